;; The greatest of many codes of 16 bits. `npm run wasm` assembles this file into `greatest-code.ts`.
(module
  (import "codes" "memory" (memory 1))

  ;; Of the codes from address `at` to before `end`, 64 bytes or a multiple of them: the greatest, as a signed number, each
  ;; with its bits flipped where `flip` is -1, and then `add` added to it.
  (func (export "greatest") (param $at i32) (param $end i32) (param $flip i32) (param $add i32) (result i32)
    (local $flips v128) (local $adds v128) (local $a v128) (local $b v128)
    (local.set $flips (i16x8.splat (local.get $flip)))
    (local.set $adds (i16x8.splat (local.get $add)))
    (local.set $a (i16x8.splat (i32.const -0x8000)))
    (local.set $b (local.get $a))
    (loop $next
      (local.set $a (i16x8.max_s (local.get $a)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load (local.get $at))))))
      (local.set $b (i16x8.max_s (local.get $b)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=16 (local.get $at))))))
      (local.set $a (i16x8.max_s (local.get $a)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=32 (local.get $at))))))
      (local.set $b (i16x8.max_s (local.get $b)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=48 (local.get $at))))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $a (i16x8.max_s (local.get $a) (local.get $b)))
    ;; The halves, quarters and eighths onto each other.
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 4 5 6 7 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (i16x8.extract_lane_s 0 (local.get $a))))
