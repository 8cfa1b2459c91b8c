/** What is used of WebAssembly's types of the web, which the compiler is not given. */
interface WebAssemblyTypes {
  Memory: new (limits: { initial: number; maximum: number }) => {
    readonly buffer: ArrayBuffer
    /** `buffer` is another one afterwards. */
    grow(pages: number): number
  }
  Module: new (code: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

export const WASM = (globalThis as unknown as { WebAssembly: WebAssemblyTypes }).WebAssembly
