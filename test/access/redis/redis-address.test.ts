/** Addresses of Redis: what is taken, what is refused, and that no message has a password. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAddress, parseAddress } from '../../../src/access/redis/redis-address.ts'

test('An address has hosts, a database, a user, a password, a prefix and a name without the password.', () => {
  assert.deepEqual(
    parseAddress('rediss://rider:p%40ss%2Fword@[::1]:7000,db.example,10.0.0.1:1/3?prefix=buoys'),
    {
      hosts: [
        { host: '::1', port: 7000 },
        { host: 'db.example', port: 6379 },
        { host: '10.0.0.1', port: 1 },
      ],
      tls: true,
      database: 3,
      user: 'rider',
      password: 'p@ss/word',
      prefix: 'buoys',
      name: 'rediss://rider@[::1]:7000,db.example:6379,10.0.0.1:1/3?prefix=buoys',
      place: 'rediss://[::1]:7000,db.example:6379,10.0.0.1:1/3?prefix=buoys',
    },
  )
  const { user, password, database, prefix, name } = parseAddress('redis://:secret@localhost')
  assert.deepEqual([user, password, database, prefix], [null, 'secret', 0, 'groundswell'])
  assert.equal(name, 'redis://localhost:6379/0')
})

test('A mistyped address is refused with what is allowed.', () => {
  const refused = {
    'reddis://localhost': /^an address such as/,
    'redis:localhost': /^an address such as/,
    'redis://': /^an address such as/,
    'redis://user:p@ss@localhost': /percent-encode/,
    'redis://localhost:0': /ports from 1 to 65535/,
    'redis://localhost:65536': /ports from 1 to 65535/,
    'redis://localhost:six': /ports/,
    'redis://lo cal': /^hosts as NAME/,
    'redis://-x': /^hosts as NAME/,
    'redis://a,,b': /^hosts as NAME/,
    'redis://a,b,c,d,e,f,g,h,i': /at most 8 hosts/,
    'redis://localhost/x': /number of a database/,
    'redis://localhost/16384': /number of a database/,
    'redis://localhost/0/1': /number of a database/,
    'redis://localhost?db=1': /prefix=NAME/,
    'redis://localhost?prefix=': /prefix=NAME/,
    'redis://localhost?prefix=a:b': /prefix=NAME/,
    'redis://100%:x@localhost': /percent-encoding/,
    [`redis://${'a'.repeat(3000)}`]: /^an address such as/,
  }
  for (const [text, message] of Object.entries(refused)) {
    assert.throws(() => parseAddress(text), { message }, text)
  }
})

test('What holds a scheme is an address, and a path of any kind is not.', () => {
  for (const text of ['redis://h', 'REDISS://h', 'reddis://h', 'http://h']) assert.ok(isAddress(text), text)
  for (const text of ['data/keys.json', '/redis/keys', './redis:', 'C:\\keys', 'redis']) {
    assert.ok(!isAddress(text), text)
  }
})

test('Neither a fault nor the name of an address repeats its password, whatever the text.', () => {
  const secret = 'hunter2hunter2'
  const piece = fc.constantFrom(
    'redis',
    'rediss',
    '://',
    ':',
    '@',
    '/',
    '?',
    ',',
    'user',
    'host',
    '%',
    '%40',
    '[',
    '6379',
    secret,
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('')
      try {
        const { name, place, user, hosts, prefix } = parseAddress(text)
        const elsewhere = [user, prefix, ...hosts.map(({ host }) => host)].some((part) =>
          part?.includes(secret),
        )
        assert.ok(elsewhere || !(name + place).includes(secret), text)
      } catch (error) {
        assert.ok(!(error as Error).message.includes(secret), text)
      }
    }),
  )
})
