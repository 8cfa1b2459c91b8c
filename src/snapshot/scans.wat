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
    (local.get $count))

  ;; Unpacks `days` codes of `width` bytes (0 for none) from address `codes` into numbers of 32 bits from `into` on: `base` plus
  ;; `step` times each. Works on four together, so it reads and writes up to three behind them.
  (func (export "unpack") (param $codes i32) (param $width i32) (param $days i32) (param $base i32) (param $step i32)
    (param $into i32)
    (local $bases v128) (local $steps v128) (local $end i32)
    (local.set $bases (i32x4.splat (local.get $base)))
    (local.set $steps (i32x4.splat (local.get $step)))
    (local.set $end (i32.add (local.get $into) (i32.mul (local.get $days) (i32.const 4))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $into) (local.get $end)))
      (v128.store (local.get $into) (i32x4.add (local.get $bases) (i32x4.mul (local.get $steps)
        (if (result v128) (i32.eq (local.get $width) (i32.const 1))
          (then (i32x4.extend_low_i16x8_u (v128.load8x8_u (local.get $codes))))
          (else (if (result v128) (i32.eq (local.get $width) (i32.const 2))
            (then (v128.load16x4_u (local.get $codes)))
            (else (if (result v128) (local.get $width)
              (then (v128.load (local.get $codes)))
              (else (v128.const i32x4 0 0 0 0))))))))))
      (local.set $codes (i32.add (local.get $codes) (i32.mul (local.get $width) (i32.const 4))))
      (local.set $into (i32.add (local.get $into) (i32.const 16)))
      (br $next))))

  ;; Of `days` days whose statistics stand as rows of `row` bytes from address `at` on (the median; the mean less it; it less the
  ;; least; the greatest less it; samples): how many have samples, or -1 where one of those has a statistic out of order, below
  ;; `low` or above `high`, or more than `most` samples. Zeros three numbers behind the samples.
  (func (export "days") (param $at i32) (param $row i32) (param $days i32) (param $low i32) (param $high i32)
    (param $most i32) (result i32)
    (local $lows v128) (local $highs v128) (local $mosts v128) (local $end i32)
    (local $mean i32) (local $less i32) (local $more i32) (local $samples i32)
    (local $m v128) (local $l v128) (local $g v128) (local $n v128) (local $has v128) (local $bad v128)
    (local $counts v128)
    (local.set $lows (i32x4.splat (local.get $low)))
    (local.set $highs (i32x4.splat (local.get $high)))
    (local.set $mosts (i32x4.splat (local.get $most)))
    (local.set $mean (i32.add (local.get $at) (local.get $row)))
    (local.set $less (i32.add (local.get $mean) (local.get $row)))
    (local.set $more (i32.add (local.get $less) (local.get $row)))
    (local.set $samples (i32.add (local.get $more) (local.get $row)))
    (local.set $end (i32.add (local.get $at) (i32.mul (local.get $days) (i32.const 4))))
    (i64.store (i32.add (local.get $samples) (i32.mul (local.get $days) (i32.const 4))) (i64.const 0))
    (i32.store offset=8 (i32.add (local.get $samples) (i32.mul (local.get $days) (i32.const 4))) (i32.const 0))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $m (v128.load (local.get $at)))
      (local.set $l (v128.load (local.get $less)))
      (local.set $g (v128.load (local.get $more)))
      (local.set $n (v128.load (local.get $samples)))
      (local.set $has (i32x4.ne (local.get $n) (v128.const i32x4 0 0 0 0)))
      (local.set $counts (i32x4.sub (local.get $counts) (local.get $has)))
      ;; Differences are of what lies within the limits, else it is bad already: none is beyond 32 bits.
      (local.set $bad (v128.or (local.get $bad) (v128.and (local.get $has)
        (v128.or
          (v128.or
            (v128.or
              (i32x4.lt_s (local.get $n) (v128.const i32x4 0 0 0 0))
              (i32x4.gt_s (local.get $n) (local.get $mosts)))
            (v128.or
              (i32x4.lt_s (local.get $m) (local.get $lows))
              (i32x4.gt_s (local.get $m) (local.get $highs))))
          (v128.or
            (v128.or
              (i32x4.lt_s (v128.or (local.get $l) (local.get $g)) (v128.const i32x4 0 0 0 0))
              (v128.or
                (i32x4.gt_s (local.get $l) (i32x4.sub (local.get $m) (local.get $lows)))
                (i32x4.gt_s (local.get $g) (i32x4.sub (local.get $highs) (local.get $m)))))
            (v128.or
              (i32x4.lt_s (v128.load (local.get $mean)) (i32x4.neg (local.get $l)))
              (i32x4.gt_s (v128.load (local.get $mean)) (local.get $g))))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $mean (i32.add (local.get $mean) (i32.const 16)))
      (local.set $less (i32.add (local.get $less) (i32.const 16)))
      (local.set $more (i32.add (local.get $more) (i32.const 16)))
      (local.set $samples (i32.add (local.get $samples) (i32.const 16)))
      (br $next)))
    (if (result i32) (v128.any_true (local.get $bad))
      (then (i32.const -1))
      (else (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $counts)) (i32x4.extract_lane 1 (local.get $counts)))
        (i32.add (i32x4.extract_lane 2 (local.get $counts)) (i32x4.extract_lane 3 (local.get $counts))))))))
