(** When decisions are settled, and an example: a program with fan-out, an unused value and a branch, whose hypotheses
    hold and whose gradient comes out as calculus says. *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List.
Require Import Etalon.sums Etalon.scalar_functions Etalon.scalar_table Etalon.scalar_complete Etalon.curves
  Etalon.rules_pieces Etalon.reverse Etalon.library_reverse.
Import ListNotations.
Local Open Scope R_scope.

Notation eval' := (eval operation value).

Lemma evaluation_exists (x : R -> environment) s e :
  (forall v, ex_derive (fun r => x r v) s) -> regular operation value domain (x s) e ->
  ex_derive (fun r => eval' (x r) e) s.
Proof.
  intros Hx R. exists (tangent operation value contribution (x s) (fun v => Derive (fun r => x r v) s) e).
  apply (evaluation_derives operation value contribution domain operation_rule); [|exact R].
  intros v. apply Derive_correct, Hx.
Qed.

(** Comparing two differentiable values that differ is settled. *)
Theorem comparison_is_settled env a b :
  regular operation value domain env a -> regular operation value domain env b -> eval' env a <> eval' env b ->
  settled (fun e => real_lt (eval' e a) (eval' e b)) env.
Proof.
  intros Ra Rb N x s E Hx. subst env.
  assert (Ea : ex_derive (fun r => eval' (x r) a) s) by now apply evaluation_exists.
  assert (Eb : ex_derive (fun r => eval' (x r) b) s) by now apply evaluation_exists.
  destruct (Rtotal_order (eval' (x s) a) (eval' (x s) b)) as [L|[Q|G]]; [| contradiction |].
  - generalize (below_near _ _ s Ea Eb L). apply filter_imp. intros r H. now rewrite !real_lt_true.
  - generalize (below_near _ _ s Eb Ea G). apply filter_imp. intros r H.
    rewrite !real_lt_false; [reflexivity | lra | lra].
Qed.

(** y = x * x, unused = exp x, z = y + y if x < 1 else y: dz/dx = 4 x for x < 1. *)
Definition example : list (expr operation) :=
  [ Apply operation (Binary binary_mul) [Read operation 0; Read operation 0];
    Apply operation (Unary unary_exp) [Read operation 0];
    Select operation (fun e => real_lt (e 0%nat) 1)
      (Apply operation (Binary binary_add) [Read operation 1; Read operation 1]) (Read operation 1) ].

Theorem example_gradient x0 : x0 < 1 ->
  is_derive (fun r => run operation value 1 example (update (fun _ => 0) 0 r) 3%nat) x0 (4 * x0).
Proof.
  intros H. set (env := update (fun _ => 0) 0 x0).
  assert (R : regular_program operation value domain 1 example env).
  { repeat split; simpl; try lia; auto.
    - intros x s E Hx.
      assert (L : x s 0%nat = x0) by (rewrite E; reflexivity).
      assert (D : ex_derive (fun r => - x r 0%nat) s) by (apply @ex_derive_opp, Hx).
      generalize (near_above (fun r => - x r 0%nat) s (-1) D ltac:(lra)).
      apply filter_imp. intros r B. rewrite !real_lt_true; [reflexivity | exact H | lra].
    - unfold update, env, update; simpl. destruct real_lt; simpl; repeat split. }
  generalize (library_gradient example 1 0 [(3%nat, 1)] env ltac:(lia) R ltac:(repeat constructor; simpl; lia)).
  intros G. evar_last.
  - apply is_derive_ext with (2 := G). intros r. simpl. unfold update. simpl. ring.
  - simpl. unfold env, update; simpl. rewrite real_lt_true by exact H. simpl.
    unfold contribution_mul_0, contribution_mul_1, contribution_add_0, contribution_add_1. ring.
Qed.
