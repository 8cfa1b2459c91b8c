;; What is looked for in the columns of a part. `npm run wasm` assembles this file into `scans-code.ts`.
(module
  (import "chunk" "memory" (memory 5))

  ;; Of the codes of 16 bits from address `at` to before `end`: the greatest, as a signed number, each with its bits flipped
  ;; where `flip` is -1, and then `add` added to it. The least number that there is where there are none.
  (func (export "greatest") (param $at i32) (param $end i32) (param $flip i32) (param $add i32) (result i32)
    (local $flips v128) (local $adds v128) (local $a v128) (local $b v128) (local $most i32) (local $code i32)
    (local.set $flips (i16x8.splat (local.get $flip)))
    (local.set $adds (i16x8.splat (local.get $add)))
    (local.set $a (i16x8.splat (i32.const -0x8000)))
    (local.set $b (local.get $a))
    (block $few (loop $next
      (br_if $few (i32.lt_s (i32.sub (local.get $end) (local.get $at)) (i32.const 64)))
      (local.set $a (i16x8.max_s (local.get $a)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load (local.get $at))))))
      (local.set $b (i16x8.max_s (local.get $b)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=16 (local.get $at))))))
      (local.set $a (i16x8.max_s (local.get $a)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=32 (local.get $at))))))
      (local.set $b (i16x8.max_s (local.get $b)
        (i16x8.add (local.get $adds) (v128.xor (local.get $flips) (v128.load offset=48 (local.get $at))))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br $next)))
    (local.set $a (i16x8.max_s (local.get $a) (local.get $b)))
    ;; The halves, quarters and eighths onto each other.
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 4 5 6 7 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (local.set $a (i16x8.max_s (local.get $a)
      (i8x16.shuffle 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $a) (local.get $a))))
    (local.set $most (i16x8.extract_lane_s 0 (local.get $a)))
    (block $done (loop $rest
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $code (i32.extend16_s
        (i32.add (local.get $add) (i32.xor (local.get $flip) (i32.load16_u (local.get $at))))))
      (local.set $most (select (local.get $code) (local.get $most)
        (i32.gt_s (local.get $code) (local.get $most))))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (br $rest)))
    (local.get $most))

  ;; Of the numbers of 32 bits from address `at` to before `end`: how many are not greater than the one before them, which
  ;; for the first stands before `at`.
  (func (export "falls") (param $at i32) (param $end i32) (result i32)
    (local $counts v128) (local $count i32)
    (block $few (loop $next
      (br_if $few (i32.lt_s (i32.sub (local.get $end) (local.get $at)) (i32.const 32)))
      ;; What holds is -1 in each of four.
      (local.set $counts (i32x4.sub (local.get $counts)
        (i32x4.le_u (v128.load (local.get $at)) (v128.load (i32.sub (local.get $at) (i32.const 4))))))
      (local.set $counts (i32x4.sub (local.get $counts)
        (i32x4.le_u (v128.load offset=16 (local.get $at)) (v128.load offset=12 (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 32)))
      (br $next)))
    (local.set $count (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $counts)) (i32x4.extract_lane 1 (local.get $counts)))
      (i32.add (i32x4.extract_lane 2 (local.get $counts)) (i32x4.extract_lane 3 (local.get $counts)))))
    (block $done (loop $rest
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $count (i32.add (local.get $count)
        (i32.le_u (i32.load (local.get $at)) (i32.load (i32.sub (local.get $at) (i32.const 4))))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $rest)))
    (local.get $count)))
