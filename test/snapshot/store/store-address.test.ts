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

const WRONG: [text: string, message: RegExp][] = [
  ['s3:/bucket/sea', /is not the address of a store; expected s3:\/\/BUCKET\/PREFIX or https:\/\/HOST/],
  ['s3a://bucket/sea', /is not the address of a store/],
  ['s3:///bucket/sea', /"" is not the name of a bucket: .*; expected s3:\/\/BUCKET\/PREFIX/],
  ['bucket/sea', /is not the address of a store/],
  ['http:/host/sea', /is not the address of a store/],
  ['https://host/sea/manifest.msgpack', /names a file; did you mean https:\/\/host\/sea\/\?/],
  ['s3://b/waves', /"b" is not the name of a bucket: 3 to 63 letters/],
  ['s3://bucket//sea', /neither empty parts nor/],
  ['s3://bucket/../sea', /neither empty parts nor/],
  ['s3://bucket/sea?region=x', /AWS_ENDPOINT_URL_S3 and AWS_REGION/],
  ['s3://id:hush@bucket/sea', /^s3:\/\/…@…: an address holds no user/],
  ['https://me:hush@host/sea', /^https:\/\/…@…: an address holds no user/],
  ['https://host/sea?token=hush', /^https:\/\/host\/sea: has a "\?"/],
  ['ftp://me:hush@host/sea', /is not the address of a store/],
  [`s3://bucket/${'x'.repeat(901)}`, /more than 900 bytes/],
  ['', /is not the address of a store/],
]

for (const [text, message] of WRONG) {
  test(`An address such as ${JSON.stringify(text.slice(0, 40))} is refused, with what is expected.`, () => {
    assert.throws(
      () => parseAddress(text),
      (error) => {
        assert.ok(error instanceof StoreError)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /hush/)
        assert.ok(error.message.length < 500)
        return true
      },
    )
  })
}
