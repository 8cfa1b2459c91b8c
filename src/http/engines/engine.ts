/** Chooses the HTTP engine. */
import { loadBinding } from './uws-binding.ts'
import type { Engine, OnRequest, Surroundings } from '../exchange.ts'
import { NodeEngine, SHARES_PORT } from './node.ts'
import { UwsEngine } from './uws.ts'

export interface EngineChoice {
  readonly kind: Engine['kind']
  /** Threads that can listen on one port. */
  readonly maxWorkers: number
  /** For the operator: what is missing, and what it costs. */
  readonly warning: string | null
  create(onRequest: OnRequest, surroundings: Surroundings): Engine
}

/**
 * `auto` takes the native engine if it can be loaded. Call it in the main thread before any worker starts,
 * and again in each worker (see `loadBinding`). @throws Error if `uws` is asked for and cannot be loaded
 */
export function loadEngine(preference: 'auto' | 'uws' | 'node'): EngineChoice {
  if (preference === 'node') return nodeChoice(null)
  const { binding, reason } = loadBinding()
  if (binding !== null) {
    return {
      kind: 'uws',
      maxWorkers: Infinity,
      warning: null,
      create: (onRequest, surroundings) => new UwsEngine(binding, onRequest, surroundings),
    }
  }
  if (preference === 'uws') throw new Error(`uWebSockets.js cannot be loaded: ${reason}`)
  return nodeChoice(
    `uWebSockets.js cannot be loaded, serving with node:http${SHARES_PORT ? '' : ' on one thread (on all workers with Node 22.12 or newer on Linux)'}, several times slower: ${reason}`,
  )
}

function nodeChoice(warning: string | null): EngineChoice {
  return {
    kind: 'node',
    maxWorkers: SHARES_PORT ? Infinity : 1,
    warning,
    create: (onRequest, surroundings) => new NodeEngine(onRequest, surroundings),
  }
}
