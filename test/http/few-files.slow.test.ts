/** A server that may open few files: connections beyond them end it neither, nor keep it busy. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ask, runCliWell, temporaryFolder, type Reply } from '../live.ts'
import { CLI, startProgram } from '../started_program.ts'
import { until } from '../until.ts'
import { SLOW_ENGINES, missing } from './server_for_tests.ts'

/** Of which 8 are left for connections, so far as the server counts; it refuses the others one by one. */
const FILES = 160
const CROWD = 600
/** Of processor time in a second in which nothing is asked. */
const QUIET_SHARE = 0.5
/** `/proc/PID/stat` counts so many a second. */
const TICKS = 100

/** Processor time of all threads, in seconds. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

for (const kind of SLOW_ENGINES) {
  test(
    `A server on ${kind} that may open ${FILES} files outlives ${CROWD} connections, rests beside them, and counts what it refused.`,
    { skip: process.platform === 'linux' ? missing(kind) : 'limits are those of Linux' },
    async (t) => {
      const folder = temporaryFolder(t)
      const snapshots = join(folder, 'snapshots')
      await runCliWell(['build', '--source', 'demo:scale,buoys=2,days=1', '--out', snapshots])
      const keysFile = join(folder, 'keys.json')
      await runCliWell(['keys', 'issue', '--owner', 'somebody', '--keys', keysFile])
      const places = [`--snapshots=${snapshots}`, `--keys=${keysFile}`, '--port=0', '--admin-port=0']
      const args = ['serve', ...places, `--engine=${kind}`, '--workers=1', '--drain-time=0']
      const limited = ['sh', '-c', `ulimit -n ${FILES}; exec "$0" "$@"`, process.execPath, CLI]
      const server = startProgram(t, args, { command: limited })
      const [, port] = await server.says(/listening on http:\/\/127\.0\.0\.1:(\d+)/)
      const [, admin] = await server.says(/admin port on (\S+)\n/)
      const taken =
        /--max-connections 10000 is taken as (\d+) and --max-listeners 10000 as \d+: this process may have 160 files open/.exec(
          server.said,
        )
      assert.ok(taken !== null, server.said)
      const most = Number(taken[1])
      assert.ok(most > 0 && most < FILES, server.said)

      const sockets: Socket[] = []
      let over = 0
      for (let i = 0; i < CROWD; i++) {
        const socket = connect(Number(port), '127.0.0.1')
        socket.on('error', () => {}).once('close', () => over++)
        socket.resume()
        sockets.push(socket)
      }
      await until(
        () => over >= CROWD - most,
        () => `${over} of ${CROWD} refused`,
      )
      // Of three seconds the quietest, since what came before them may still be under way.
      let least = Infinity
      for (let second = 0; second < 3; second++) {
        const before = processorTime(server.child.pid!)
        await wait(1000)
        least = Math.min(least, processorTime(server.child.pid!) - before)
      }
      assert.ok(least < QUIET_SHARE, `${least} s of processor time in a quiet second`)
      assert.equal(server.hasEnded(), false, server.said)

      const reply = await fetch(`${admin}/status`)
      const { connections } = (await reply.json()) as { connections: { refused: number } }
      assert.ok(connections.refused >= CROWD - most, JSON.stringify(connections))
      for (const socket of sockets) socket.destroy()
      await until(
        () => over === CROWD,
        () => `${over} of ${CROWD} over`,
      )
      const asked = (): Promise<Reply | null> =>
        ask(Number(port), '/v2/buoys/search?query=bu', { headers: { connection: 'close' } }).catch(() => null)
      await until(async () => (await asked())?.status === 200, 'nobody is served any more')
    },
  )
}
