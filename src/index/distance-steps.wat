;; Finds the points that a page by distance may consist of, by counting all points in steps of their distance. `npm run wasm`
;; assembles this file into `distance-steps-code.ts`; `{NAME}` is an address or a number of `distance-steps-layout.ts`.
(module
  (import "points" "memory" (memory 1))

  ;; Of the points whose coordinates fill `bytes` bytes a column, a multiple of 32: those within the squared chord `within` around
  ;; x, y, z that may stand from `from` up to `to` by distance. A step is a squared chord times `scale`, rounded. A point that is
  ;; beyond `surely` and not beyond `within` lies on the border. Returns how many are found; none where fewer than `from` are within.
  (func (export "collect")
    (param $bytes i32) (param $x f32) (param $y f32) (param $z f32) (param $surely f32) (param $within f32) (param $scale f32)
    (param $from i32) (param $to i32) (result i32)
    (local $at i32) (local $yAt i32) (local $zAt i32) (local $steps i32) (local $end i32) (local $into i32)
    (local $step i32) (local $first i32) (local $last i32) (local $sum i32) (local $hits i32) (local $found i32)
    (local $xs v128) (local $ys v128) (local $zs v128) (local $scales v128) (local $sures v128) (local $mosts v128)
    (local $beyond v128) (local $border v128) (local $dx v128) (local $dy v128) (local $dz v128) (local $isBeyond v128)
    (memory.fill (i32.const {COUNTS}) (i32.const 0) (i32.const {COUNTS_BYTES}))
    (local.set $xs (f32x4.splat (local.get $x)))
    (local.set $ys (f32x4.splat (local.get $y)))
    (local.set $zs (f32x4.splat (local.get $z)))
    (local.set $scales (f32x4.splat (local.get $scale)))
    (local.set $sures (f32x4.splat (local.get $surely)))
    (local.set $mosts (f32x4.splat (local.get $within)))
    ;; Four counts of them: one alone would have each wait for the one before.
    (local.set $beyond (i32x4.add (i32x4.splat (i32.const {STEPS})) (v128.const i32x4 0 1 2 3)))
    (local.set $yAt (i32.add (i32.const {POINTS}) (local.get $bytes)))
    (local.set $zAt (i32.add (local.get $yAt) (local.get $bytes)))
    (local.set $steps (i32.add (local.get $zAt) (local.get $bytes)))

    ;; Added to 2^23, a number stands rounded in the low bits.
    (local.set $at (i32.const {POINTS}))
    (local.set $into (local.get $steps))
    (local.set $end (local.get $yAt))
    (loop $four
      (local.set $dx (f32x4.sub (v128.load (local.get $at)) (local.get $xs)))
      (local.set $dy (f32x4.sub (v128.load (i32.add (local.get $at) (local.get $bytes))) (local.get $ys)))
      (local.set $dz (f32x4.sub (v128.load (i32.add (i32.add (local.get $at) (local.get $bytes)) (local.get $bytes)))
        (local.get $zs)))
      (local.set $dx (f32x4.add
        (f32x4.add (f32x4.mul (local.get $dx) (local.get $dx)) (f32x4.mul (local.get $dy) (local.get $dy)))
        (f32x4.mul (local.get $dz) (local.get $dz))))
      (local.set $isBeyond (f32x4.gt (local.get $dx) (local.get $mosts)))
      (local.set $border (v128.or (local.get $border)
        (v128.andnot (f32x4.gt (local.get $dx) (local.get $sures)) (local.get $isBeyond))))
      (local.set $dx (v128.bitselect
        (local.get $beyond)
        (v128.and
          (f32x4.add (f32x4.mul (local.get $dx) (local.get $scales)) (v128.const f32x4 0x1p23 0x1p23 0x1p23 0x1p23))
          (v128.const i32x4 0xffff 0xffff 0xffff 0xffff))
        (local.get $isBeyond)))
      (v128.store64_lane 0 (local.get $into) (i16x8.narrow_i32x4_u (local.get $dx) (local.get $dx)))
      (local.set $into (i32.add (local.get $into) (i32.const 8)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
    (i32.store8 (i32.const {BORDER}) (v128.any_true (local.get $border)))

    (local.set $at (local.get $steps))
    (local.set $end (local.get $into))
    (loop $one
      (local.set $step (i32.shl (i32.load16_u (local.get $at)) (i32.const 2)))
      (i32.store offset={COUNTS} (local.get $step)
        (i32.add (i32.load offset={COUNTS} (local.get $step)) (i32.const 1)))
      (local.set $step (i32.shl (i32.load16_u offset=2 (local.get $at)) (i32.const 2)))
      (i32.store offset={COUNTS} (local.get $step)
        (i32.add (i32.load offset={COUNTS} (local.get $step)) (i32.const 1)))
      (local.set $step (i32.shl (i32.load16_u offset=4 (local.get $at)) (i32.const 2)))
      (i32.store offset={COUNTS} (local.get $step)
        (i32.add (i32.load offset={COUNTS} (local.get $step)) (i32.const 1)))
      (local.set $step (i32.shl (i32.load16_u offset=6 (local.get $at)) (i32.const 2)))
      (i32.store offset={COUNTS} (local.get $step)
        (i32.add (i32.load offset={COUNTS} (local.get $step)) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $one (i32.lt_u (local.get $at) (local.get $end))))

    ;; The step that `from` lies in, and the one that the last before `to` lies in, or the last that there is.
    (block $started (loop $next
      (local.set $step (i32.load offset={COUNTS} (i32.shl (local.get $first) (i32.const 2))))
      (br_if $started (i32.gt_u (i32.add (local.get $sum) (local.get $step)) (local.get $from)))
      (local.set $sum (i32.add (local.get $sum) (local.get $step)))
      (local.set $first (i32.add (local.get $first) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $first) (i32.const {STEPS})))
      (return (i32.const 0))))
    (local.set $last (local.get $first))
    (local.set $found (local.get $sum))
    (block $ended (loop $next
      (local.set $found (i32.add (local.get $found)
        (i32.load offset={COUNTS} (i32.shl (local.get $last) (i32.const 2)))))
      (br_if $ended (i32.ge_u (local.get $found) (local.get $to)))
      (local.set $last (i32.add (local.get $last) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $last) (i32.const {STEPS})))))

    ;; One more on either side: rounding may have put a point there. What is beyond is none of them.
    (if (local.get $first) (then
      (local.set $first (i32.sub (local.get $first) (i32.const 1)))
      (local.set $sum (i32.sub (local.get $sum)
        (i32.load offset={COUNTS} (i32.shl (local.get $first) (i32.const 2)))))))
    (local.set $last (i32.add (local.get $last) (i32.const 1)))
    (if (i32.ge_u (local.get $last) (i32.const {STEPS})) (then (local.set $last (i32.const {LAST_STEP}))))
    (i32.store (i32.const {FIRST}) (local.get $first))
    (i32.store (i32.const {LAST}) (local.get $last))
    (i32.store (i32.const {BEFORE}) (local.get $sum))

    (local.set $dx (i16x8.splat (local.get $first)))
    (local.set $dy (i16x8.splat (i32.sub (local.get $last) (local.get $first))))
    (local.set $found (local.get $end))
    (local.set $at (local.get $steps))
    (loop $eight
      (local.set $hits (i16x8.bitmask
        (i16x8.le_u (i16x8.sub (v128.load (local.get $at)) (local.get $dx)) (local.get $dy))))
      (block $none (loop $hit
        (br_if $none (i32.eqz (local.get $hits)))
        (i32.store (local.get $found) (i32.add
          (i32.shr_u (i32.sub (local.get $at) (local.get $steps)) (i32.const 1))
          (i32.ctz (local.get $hits))))
        (local.set $found (i32.add (local.get $found) (i32.const 4)))
        (local.set $hits (i32.and (local.get $hits) (i32.sub (local.get $hits) (i32.const 1))))
        (br $hit)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $eight (i32.lt_u (local.get $at) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $found) (local.get $end)) (i32.const 2))))
