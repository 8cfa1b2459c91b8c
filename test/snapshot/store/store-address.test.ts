import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../../src/snapshot/store/store-address.ts'
import { StoreError } from '../../../src/snapshot/store/store.ts'

test('An address names a bucket and a prefix, or a folder of a web server.', () => {
  assert.deepEqual(parseAddress('s3://bucket'), {
    kind: 's3',
    text: 's3://bucket',
    bucket: 'bucket',
    prefix: '',
  })
  assert.deepEqual(parseAddress('s3://my.bucket/a/b/'), {
    kind: 's3',
    text: 's3://my.bucket/a/b',
    bucket: 'my.bucket',
    prefix: 'a/b/',
  })
  for (const text of ['https://host/a', 'https://host/a/']) {
    const address = parseAddress(text)
    assert.ok(address.kind === 'web' && address.base.href === 'https://host/a/')
  }
})

const STORE = /is not the address of a store; expected s3:\/\/BUCKET\/PREFIX or https:\/\/HOST/
const SECRET = /^…@…: an address holds no user/

test('Other addresses are refused, with what is expected and without their secrets.', () => {
  for (const [message, texts] of [
    [STORE, ['s3:/bucket/sea', 's3a://bucket/sea', 's3:///bucket/sea', 'bucket/sea', 'http:/host/sea', '']],
    [STORE, ['s3://b/waves', 's3://bucket//sea', 's3://bucket/../sea', `s3://bucket/${'x'.repeat(901)}`]],
    [/names a file; did you mean https:\/\/host\/sea\/\?/, ['https://host/sea/manifest.msgpack']],
    [SECRET, ['s3://id:hush@bucket/sea', 's3://id:hu/hush@bucket/sea', 'https://me:hush@host/sea']],
    [/^https:\/\/host\/sea: has a "\?"/, ['https://host/sea?token=hush', 'https://host/sea#hush']],
  ] as const) {
    for (const text of texts) {
      assert.throws(
        () => parseAddress(text),
        (error) => {
          assert.ok(error instanceof StoreError)
          assert.match(error.message, message, text)
          return !error.message.includes('hush') && error.message.length < 500
        },
      )
    }
  }
})
