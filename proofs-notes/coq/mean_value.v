(** Theorem 3 of rounding.md where everything is differentiable: when the inputs of a program move by at most l, its result
    moves by at most the sum of l times the largest cotangents on the way. The inputs are the local errors of an
    evaluation; the cotangents are those of the reverse sweep. *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List.
Require Import Etalon.sums Etalon.reverse Etalon.library_reverse.
Local Open Scope R_scope.

Lemma sum_triangle (g h : nat -> R) a n : (forall i, (a <= i < a + n)%nat -> Rabs (g i) <= h i) ->
  Rabs (sum_from a n g) <= sum_from a n h.
Proof.
  revert a. induction n as [|n IH]; intros a H; simpl; [rewrite Rabs_R0; lra|].
  apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat; [apply H; lia | apply IH; intros; apply H; lia].
Qed.

Theorem errors_move_the_result (p : list (expr operation)) n seeds (base delta : environment) (l largest : nat -> R) :
  let moved := fun t v => base v + t * delta v in
  (forall t, 0 <= t <= 1 -> regular_program operation value domain n p (moved t)) ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  (forall v, (v < n)%nat -> Rabs (delta v) <= l v) ->
  (forall t v, 0 <= t <= 1 -> (v < n)%nat ->
    Rabs (cotangent (sweep operation value contribution n p (moved t) seeds) v) <= largest v) ->
  Rabs (weighted seeds (run operation value n p (moved 1)) - weighted seeds (run operation value n p (moved 0)))
    <= sum_from 0 n (fun v => largest v * l v).
Proof.
  intros moved Hr Hs Hl Hc.
  set (f := fun t => weighted seeds (run operation value n p (moved t))).
  set (df := fun t => sum_from 0 n (fun v => cotangent (sweep operation value contribution n p (moved t) seeds) v * delta v)).
  assert (D : forall t, 0 <= t <= 1 -> is_derive f t (df t)).
  { intros t Ht. apply (library_reverse_sweep p n seeds moved delta t); [|now apply Hr | exact Hs].
    intros v. unfold moved. auto_derive; [exact I | ring]. }
  destruct (MVT_gen f 0 1 df) as [c [Hc01 E]].
  - rewrite Rmin_left, Rmax_right by lra. intros t Ht. apply D. lra.
  - rewrite Rmin_left, Rmax_right by lra. intros t Ht.
    apply continuity_pt_filterlim. apply (ex_derive_continuous f). exists (df t). now apply D.
  - rewrite Rmin_left, Rmax_right in Hc01 by lra. fold (f 1) (f 0).
    change (Rabs (f 1 - f 0) <= sum_from 0 n (fun v => largest v * l v)).
    rewrite E. replace (df c * (1 - 0)) with (df c) by ring.
    apply sum_triangle. intros v Hv. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos.
    + apply Hc; [exact Hc01 | lia].
    + apply Hl. lia.
Qed.
