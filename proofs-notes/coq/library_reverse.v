(** The theorem of reverse.v for the operations that equations are made of: every scalar primitive of the derivative
    table as the library ships it, and sums and products over a range. *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List.
Require Import Etalon.sums Etalon.scalar_functions Etalon.scalar_table Etalon.scalar_complete Etalon.curves Etalon.reverse.
Import ListNotations.
Local Open Scope R_scope.

Inductive operation : Type :=
  | Unary (p : unary)
  | Binary (p : binary)
  | Sum
  | Prod.

Fixpoint sum_of_list (xs : list R) : R := match xs with [] => 0 | x :: rest => x + sum_of_list rest end.
Fixpoint product_of_list (xs : list R) : R := match xs with [] => 1 | x :: rest => x * product_of_list rest end.

(** `product_of_others` of spec/derivative: the product without element i. *)
Fixpoint product_of_others (xs : list R) (i : nat) : R :=
  match xs, i with
  | [], _ => 1
  | _ :: rest, O => product_of_list rest
  | x :: rest, S j => x * product_of_others rest j
  end.

Definition value (o : operation) (xs : list R) : R :=
  match o, xs with
  | Unary p, [a] => unary_value p a
  | Binary p, [a; b] => binary_value p a b
  | Sum, _ => sum_of_list xs
  | Prod, _ => product_of_list xs
  | _, _ => 0
  end.

Definition contribution (o : operation) (xs : list R) (i : nat) (t : R) : R :=
  match o, xs, i with
  | Unary p, [a], O => unary_contribution_0 p a t
  | Binary p, [a; b], O => binary_contribution_0 p a b t
  | Binary p, [a; b], S O => binary_contribution_1 p a b t
  | Sum, _, _ => t
  | Prod, _, _ => t * product_of_others xs i
  | _, _, _ => 0
  end.

(** Operands where the table's rule is the derivative; an operation with a wrong number of operands is nowhere in it. *)
Definition domain (o : operation) (xs : list R) : Prop :=
  match o, xs with
  | Unary p, [a] => unary_domain p a
  | Binary p, [a; b] => binary_domain p a b
  | Sum, _ | Prod, _ => True
  | _, _ => False
  end.

Theorem contribution_is_linear o xs i t : contribution o xs i t = t * contribution o xs i 1.
Proof.
  destruct o as [p|p| |]; simpl.
  - destruct xs as [|a [|b l]]; try ring. destruct i; [apply every_unary_contribution_0_is_linear | ring].
  - destruct xs as [|a [|b [|c l]]]; try ring. destruct i as [|[|i]];
      [apply every_binary_contribution_0_is_linear | apply every_binary_contribution_1_is_linear | ring].
  - ring.
  - ring.
Qed.

Lemma add_up_ext g h i ds : (forall k d, (i <= k)%nat -> g k d = h k d) -> add_up g i ds = add_up h i ds.
Proof.
  revert i. induction ds as [|d rest IH]; intros i H; simpl; [reflexivity|].
  rewrite H by lia. f_equal. apply IH. intros; apply H; lia.
Qed.

Lemma add_up_shift g i ds : add_up g (S i) ds = add_up (fun k => g (S k)) i ds.
Proof. revert i. induction ds as [|d rest IH]; intros i; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma add_up_scale g c i ds : add_up (fun k d => c * g k d) i ds = c * add_up g i ds.
Proof. revert i. induction ds as [|d rest IH]; intros i; simpl; [ring | rewrite IH; ring]. Qed.

Theorem sum_rule (xs : list (R -> R)) ds s : Forall2 (fun x d => is_derive x s d) xs ds ->
  is_derive (fun r => sum_of_list (map (fun x => x r) xs)) s (add_up (fun _ d => d) 0 ds).
Proof.
  generalize O as i. intros i H. revert i. induction H as [|x d xs ds Hx _ IH]; intros i; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule)).
  - apply @is_derive_plus; [exact Hx | apply IH].
Qed.

Theorem product_rule (xs : list (R -> R)) ds s : Forall2 (fun x d => is_derive x s d) xs ds ->
  is_derive (fun r => product_of_list (map (fun x => x r) xs)) s
    (add_up (fun i d => d * product_of_others (map (fun x => x s) xs) i) 0 ds).
Proof.
  induction 1 as [|x d xs ds Hx _ IH]; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule)).
  - set (rest := fun r => product_of_list (map (fun y => y r) xs)) in *.
    evar_last.
    + apply (is_derive_mult x rest s d _ Hx IH). intros; apply Rmult_comm.
    + unfold plus, mult; simpl. rewrite add_up_shift. f_equal.
      rewrite <- add_up_scale. apply add_up_ext. intros k e _. ring.
Qed.

Lemma operation_rule o (xs : list (R -> R)) (ds : list R) s :
  Forall2 (fun x d => is_derive x s d) xs ds ->
  domain o (map (fun x => x s) xs) ->
  is_derive (fun r => value o (map (fun x => x r) xs)) s (add_up (contribution o (map (fun x => x s) xs)) 0 ds).
Proof.
  intros H D. destruct o as [p|p| |]; simpl.
  - destruct H as [|x d xs ds Hx [|y e ys es Hy H]]; simpl in D; try contradiction. simpl.
    rewrite Rplus_0_r. now apply every_unary_rule.
  - destruct H as [|x d xs ds Hx [|y e ys es Hy [|z f zs fs Hz H]]]; simpl in D; try contradiction. simpl.
    rewrite Rplus_0_r. now apply every_binary_rule.
  - now apply sum_rule.
  - now apply product_rule.
Qed.

(** For every program of the library's operations, differentiable at the point: the reverse sweep with the table's rules
    is the adjoint of the derivative of the program's own evaluation. *)
Theorem library_reverse_sweep (p : list (expr operation)) n seeds (x : R -> environment) (d : environment) s :
  (forall v, is_derive (fun r => x r v) s (d v)) ->
  regular_program operation value domain n p (x s) ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run operation value n p (x r))) s
    (sum_from 0 n (fun v => cotangent (sweep operation value contribution n p (x s) seeds) v * d v)).
Proof. apply reverse_sweep; [apply contribution_is_linear | apply operation_rule]. Qed.

Theorem library_gradient (p : list (expr operation)) n i seeds (env : environment) :
  (i < n)%nat -> regular_program operation value domain n p env ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run operation value n p (update env i r))) (env i)
    (cotangent (sweep operation value contribution n p env seeds) i).
Proof. apply reverse_sweep_gives_partials; [apply contribution_is_linear | apply operation_rule]. Qed.
