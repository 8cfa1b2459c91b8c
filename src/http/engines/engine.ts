/** Chooses the HTTP engine. */
import type { Engine, EngineKind, OnRequest, EngineNeeds } from '../exchange.ts'
import { NodeEngine, SHARES_PORT } from './node.ts'
import { loadBinding } from './uws-binding.ts'
import { UwsEngine } from './uws.ts'

export interface EngineChoice {
  readonly kind: EngineKind
  /** Threads that can listen on one port. */
  readonly maxWorkers: number
  /** For the operator: what is missing, and what it costs. */
  readonly warning: string | null
  create(onRequest: OnRequest, needs: EngineNeeds): Engine
}

/**
 * `auto` takes the native engine if it can be loaded. Call it in the main thread before any worker starts,
 * and again in each worker (see `loadBinding`). @throws Error if `uws` is requested and cannot be loaded
 */
export function loadEngine(preference: 'auto' | 'uws' | 'node'): EngineChoice {
  const { binding, reason } = preference === 'node' ? { binding: null, reason: null } : loadBinding()
  if (binding !== null) {
    const create = (...parts: [OnRequest, EngineNeeds]): Engine => new UwsEngine(binding, ...parts)
    return { kind: 'uws', maxWorkers: Infinity, warning: null, create }
  }
  if (preference === 'uws') throw new Error(`uWebSockets.js cannot be loaded: ${reason}`)
  const threads = SHARES_PORT ? '' : ' on one thread (on all workers with Node 22.12 or newer on Linux)'
  return {
    kind: 'node',
    maxWorkers: SHARES_PORT ? Infinity : 1,
    warning:
      reason &&
      `uWebSockets.js cannot be loaded, serving with node:http${threads}, several times slower: ${reason}`,
    create: (...parts) => new NodeEngine(...parts),
  }
}
