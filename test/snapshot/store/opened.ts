/** Stores for tests: with short limits, and all chance taken out. */
import { openStore } from '../../../src/snapshot/store/store-address.ts'
import type { Store, StoreLimits } from '../../../src/snapshot/store/store.ts'
import type { StubS3 } from './stub_s3.ts'

/** For tests that wait for a limit of time to pass. */
export const IMPATIENT = { answerMs: 300, stallMs: 300 }

export const SHORT_LIMITS: StoreLimits = {
  attempts: 4,
  connectMs: 2000,
  answerMs: 10_000,
  stallMs: 10_000,
  slowestBytesPerSecond: 16 * 1024,
}

/** A folder of the stub's bucket, with its credentials unless `environment` has others. */
export function openStub(
  stub: StubS3,
  {
    prefix = 'sea',
    environment = {},
    limits = {},
  }: {
    prefix?: string
    environment?: { [name: string]: string | undefined }
    limits?: Partial<StoreLimits>
  } = {},
): Store {
  return openStore(`s3://${stub.options.bucket}/${prefix}`, {
    environment: { ...stub.environment, ...environment },
    random: () => 0.5,
    limits: { ...SHORT_LIMITS, ...limits },
  })
}
