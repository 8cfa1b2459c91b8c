/** What the commands do to keys in Redis, by name. */
import {
  findKey,
  issued,
  rotated,
  withQuota,
  type IssuedKey,
  type KeyRecord,
  type KeyRequest,
} from '../../src/access/key-records.ts'
import { KeysInRedis } from '../../src/access/keys-redis.ts'

export class RedisStore extends KeysInRedis {
  issue(request: KeyRequest): Promise<IssuedKey> {
    return this.change((records) => issued(records, request))
  }

  rotate(id: string, now: number): Promise<IssuedKey> {
    return this.change((records) => rotated(records, id, now))
  }

  setQuota(id: string, quota: number): Promise<KeyRecord> {
    return this.change((records) => withQuota(records, id, quota))
  }

  async find(id: string): Promise<KeyRecord> {
    return findKey(await this.all(), id)
  }
}
