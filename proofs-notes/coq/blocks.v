(** Long sums in blocks: each block counts as its length times its largest value. What the loops of summation.cpp add up
    is never less than the sum itself. *)
Require Import Reals Lia Lra Arith.
Require Import Etalon.sums.
Local Open Scope R_scope.

(** From a, n numbers, in blocks of `step`: g first last bounds each value in a block. *)
Fixpoint in_blocks (fuel step a n : nat) (g : nat -> nat -> R) : R :=
  match fuel with
  | O => 0
  | S rest =>
      if Nat.eqb n 0 then 0
      else let b := Nat.min step n in INR b * g a (a + b - 1)%nat + in_blocks rest step (a + b) (n - b) g
  end.

(** The step that summation.cpp takes: every value up to 40, then 24 blocks. *)
Definition step_of (n : nat) : nat := if Nat.leb n 40 then 1%nat else ((n + 23) / 24)%nat.

Definition sum_up (first last : nat) (g : nat -> nat -> R) : R :=
  in_blocks (last + 1 - first) (step_of (last + 1 - first)) first (last + 1 - first) g.

Lemma step_positive n : (1 <= step_of n)%nat.
Proof.
  unfold step_of. destruct (Nat.leb_spec n 40); [lia|]. apply Nat.div_le_lower_bound; lia.
Qed.

Lemma in_blocks_above fuel step h g a n : (1 <= step)%nat -> (n <= fuel)%nat ->
  (forall lo i hi, (a <= lo <= i)%nat -> (i <= hi < a + n)%nat -> h i <= g lo hi) ->
  sum_from a n h <= in_blocks fuel step a n g.
Proof.
  intros Hs. revert a n. induction fuel as [|fuel IH]; intros a n Hn H.
  - replace n with 0%nat by lia. simpl. lra.
  - cbn [in_blocks]. destruct (Nat.eqb_spec n 0) as [E|E]; [subst; simpl; lra|].
    set (b := Nat.min step n). assert (B : (1 <= b <= n)%nat) by (unfold b; lia).
    replace n with (b + (n - b))%nat at 1 by lia. rewrite sum_from_split.
    apply Rplus_le_compat.
    + rewrite <- (sum_from_constant (g a (a + b - 1)%nat) a b). apply sum_from_le.
      intros i Hi. apply H; lia.
    + apply IH; [lia|]. intros lo i hi H1 H2. apply H; lia.
Qed.

Theorem sum_up_above first last h g :
  (forall lo i hi, (first <= lo <= i)%nat -> (i <= hi <= last)%nat -> h i <= g lo hi) ->
  sum_from first (last + 1 - first) h <= sum_up first last g.
Proof.
  intros H. apply in_blocks_above; [apply step_positive | lia |].
  intros lo i hi H1 H2. apply H; lia.
Qed.

(** For a nondecreasing g the right end of a block is its largest value. *)
Lemma from_two_above g n : (forall i j, (2 <= i <= j)%nat -> (j <= n)%nat -> g i <= g j) ->
  from_two g n <= sum_up 2 n (fun _ hi => g hi).
Proof.
  intros H. unfold from_two. replace (n - 1)%nat with (n + 1 - 2)%nat by lia.
  apply sum_up_above. intros lo i hi H1 H2. apply H; lia.
Qed.
