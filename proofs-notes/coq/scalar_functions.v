(** What the scalar primitives of the notation mean on real numbers, and where they are differentiable. The derivative
    table of spec/derivative/scalar_rules.cpp is printed in these names (scalar_table.v, generated). *)
Require Import Reals ZArith.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.

Definition real_add (a b : R) : R := a + b.
Definition real_sub (a b : R) : R := a - b.
Definition real_mul (a b : R) : R := a * b.
Definition real_neg (a : R) : R := - a.
Definition real_div (a b : R) : R := a / b.
Definition real_maximum (a b : R) : R := Rmax a b.
Definition real_minimum (a b : R) : R := Rmin a b.
Definition real_exp (a : R) : R := exp a.
Definition real_exp2 (a : R) : R := exp (a * ln 2).
Definition real_expm1 (a : R) : R := exp a - 1.
Definition real_log (a : R) : R := ln a.
Definition real_log2 (a : R) : R := ln a / ln 2.
Definition real_log1p (a : R) : R := ln (1 + a).
Definition real_sqrt (a : R) : R := sqrt a.
Definition real_sin (a : R) : R := sin a.
Definition real_cos (a : R) : R := cos a.
Definition real_tan (a : R) : R := sin a / cos a.
Definition real_sinh (a : R) : R := (exp a - exp (- a)) / 2.
Definition real_cosh (a : R) : R := (exp a + exp (- a)) / 2.
Definition real_tanh (a : R) : R := real_sinh a / real_cosh a.
Definition real_pi : R := PI.
Definition real_erf (a : R) : R := 2 / sqrt PI * RInt (fun t => exp (- (t * t))) 0 a.
Definition real_abs (a : R) : R := Rabs a.
Definition real_sign (a : R) : R := if Rlt_dec 0 a then 1 else if Rlt_dec a 0 then -1 else 0.
Definition real_floor (a : R) : R := IZR (Zfloor a).
Definition real_ceil (a : R) : R := IZR (Zceil a).
Definition real_trunc (a : R) : R := IZR (Ztrunc a).
Definition real_round (a : R) : R := IZR (ZnearestE a).
Definition real_modulo (a b : R) : R := a - b * real_floor (a / b).

(** A power with a whole exponent is a product, of any base; else it is exp(b log a) for a > 0, and 0 for a = 0. *)
Definition real_pow (a b : R) : R :=
  if Rlt_dec 0 a then exp (b * ln a) else if Req_EM_T b (IZR (Zfloor b)) then powerRZ a (Zfloor b) else 0.

(** The angle of the point (x, y), in (-pi, pi), off the half line x <= 0, y = 0: half of it is the angle at the far
    end of the circle through the point. [atan2_is_the_angle] says that it is what it should be. *)
Definition real_atan2 (y x : R) : R := 2 * atan (y / (x + sqrt (x * x + y * y))).

(** Truth values, as the notation compares. *)
Definition real_eq (a b : R) : bool := if Req_EM_T a b then true else false.
Definition real_ne (a b : R) : bool := negb (real_eq a b).
Definition real_lt (a b : R) : bool := if Rlt_dec a b then true else false.
Definition real_gt (a b : R) : bool := real_lt b a.
Definition real_le (a b : R) : bool := negb (real_lt b a).
Definition real_ge (a b : R) : bool := negb (real_lt a b).
Definition logical_and (a b : bool) : bool := andb a b.
Definition logical_or (a b : bool) : bool := orb a b.
Definition logical_not (a : bool) : bool := negb a.

Definition whole (x : R) : Prop := exists n : Z, x = IZR n.

(** Where the table gives the derivative. Elsewhere are kinks, jumps and edges of the domain of definition. *)
Definition domain_add (a b : R) : Prop := True.
Definition domain_sub (a b : R) : Prop := True.
Definition domain_mul (a b : R) : Prop := True.
Definition domain_neg (a : R) : Prop := True.
Definition domain_div (a b : R) : Prop := b <> 0.
Definition domain_maximum (a b : R) : Prop := a <> b.
Definition domain_minimum (a b : R) : Prop := a <> b.
Definition domain_pow (a b : R) : Prop := 0 < a.
Definition domain_atan2 (y x : R) : Prop := 0 < x \/ y <> 0.
Definition domain_exp (a : R) : Prop := True.
Definition domain_exp2 (a : R) : Prop := True.
Definition domain_expm1 (a : R) : Prop := True.
Definition domain_log (a : R) : Prop := 0 < a.
Definition domain_log2 (a : R) : Prop := 0 < a.
Definition domain_log1p (a : R) : Prop := -1 < a.
Definition domain_sqrt (a : R) : Prop := 0 < a.
Definition domain_sin (a : R) : Prop := True.
Definition domain_cos (a : R) : Prop := True.
Definition domain_tan (a : R) : Prop := cos a <> 0.
Definition domain_sinh (a : R) : Prop := True.
Definition domain_cosh (a : R) : Prop := True.
Definition domain_tanh (a : R) : Prop := True.
Definition domain_erf (a : R) : Prop := True.
Definition domain_abs (a : R) : Prop := a <> 0.
Definition domain_sign (a : R) : Prop := a <> 0.
Definition domain_floor (a : R) : Prop := ~ whole a.
Definition domain_ceil (a : R) : Prop := ~ whole a.
Definition domain_trunc (a : R) : Prop := ~ whole a.
Definition domain_round (a : R) : Prop := ~ whole (a - / 2).
Definition domain_modulo (a b : R) : Prop := b <> 0 /\ ~ whole (a / b).

(** A function of one argument obeys the contribution c: along every differentiable curve x its derivative is what c
    makes of the curve's. *)
Definition unary_rule (f : R -> R) (c : R -> R -> R) (domain : R -> Prop) : Prop :=
  forall x s dx, is_derive x s dx -> domain (x s) -> is_derive (fun r => f (x r)) s (c (x s) dx).

(** The same for two arguments: their contributions add up. *)
Definition binary_rule (f : R -> R -> R) (c0 c1 : R -> R -> R -> R) (domain : R -> R -> Prop) : Prop :=
  forall x y s dx dy, is_derive x s dx -> is_derive y s dy -> domain (x s) (y s) ->
    is_derive (fun r => f (x r) (y r)) s (c0 (x s) (y s) dx + c1 (x s) (y s) dy).

(** A contribution that is linear in the tangent is its own transpose. *)
Definition linear_1 (c : R -> R -> R) : Prop := forall a t, c a t = t * c a 1.
Definition linear_2 (c : R -> R -> R -> R) : Prop := forall a b t, c a b t = t * c a b 1.
