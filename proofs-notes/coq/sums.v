(** Finite sums of reals over consecutive numbers, and nothing else: sum_from a n g = g a + ... + g (a + n - 1), and
    the sums from 2 that Lemma S of rounding.md is written in. *)
Require Import Reals Lia Lra.
Local Open Scope R_scope.

Fixpoint sum_from (a n : nat) (g : nat -> R) : R :=
  match n with
  | O => 0
  | S m => g a + sum_from (S a) m g
  end.

(** F(n) of rounding.md: g(2) + ... + g(n), nothing when n < 2. *)
Definition from_two (g : nat -> R) (n : nat) : R := sum_from 2 (n - 1) g.

Lemma sum_from_le g h a b n :
  (forall i, (i < n)%nat -> g (a + i)%nat <= h (b + i)%nat) -> sum_from a n g <= sum_from b n h.
Proof.
  revert a b; induction n as [|n IH]; intros a b H; simpl; [lra|].
  apply Rplus_le_compat.
  - generalize (H 0%nat ltac:(lia)); rewrite !Nat.add_0_r; auto.
  - apply IH; intros i Hi. rewrite !Nat.add_succ_comm. apply H; lia.
Qed.

Lemma sum_from_eq g h a b n :
  (forall i, (i < n)%nat -> g (a + i)%nat = h (b + i)%nat) -> sum_from a n g = sum_from b n h.
Proof.
  intros H; apply Rle_antisym; apply sum_from_le; intros i Hi; rewrite H by auto; apply Rle_refl.
Qed.

Lemma sum_from_split g a m n : sum_from a (m + n) g = sum_from a m g + sum_from (a + m) n g.
Proof.
  revert a; induction m as [|m IH]; intros a; simpl.
  - rewrite Nat.add_0_r; ring.
  - rewrite IH, Nat.add_succ_comm; ring.
Qed.

Lemma sum_from_last g a n : sum_from a (S n) g = sum_from a n g + g (a + n)%nat.
Proof. replace (S n) with (n + 1)%nat by lia. rewrite sum_from_split; simpl; ring. Qed.

Lemma sum_from_nonnegative g a n : (forall i, (a <= i)%nat -> 0 <= g i) -> 0 <= sum_from a n g.
Proof.
  revert a; induction n as [|n IH]; intros a H; simpl; [lra|].
  apply Rplus_le_le_0_compat; [apply H; lia | apply IH; intros; apply H; lia].
Qed.

Lemma sum_from_plus g h a n : sum_from a n (fun i => g i + h i) = sum_from a n g + sum_from a n h.
Proof. revert a; induction n as [|n IH]; intros a; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_from_scale c g a n : sum_from a n (fun i => c * g i) = c * sum_from a n g.
Proof. revert a; induction n as [|n IH]; intros a; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_from_constant c a n : sum_from a n (fun _ => c) = INR n * c.
Proof.
  revert a; induction n as [|n IH]; intros a.
  - simpl; ring.
  - rewrite S_INR; cbn [sum_from]; rewrite IH; ring.
Qed.

Lemma from_two_split g m n : (1 <= m)%nat -> (m <= n)%nat ->
  from_two g n = from_two g m + sum_from (m + 1) (n - m) g.
Proof.
  intros Hm Hn; unfold from_two.
  replace (n - 1)%nat with ((m - 1) + (n - m))%nat by lia.
  rewrite sum_from_split. f_equal. f_equal; lia.
Qed.

(** What joins two subtrees of a and b leaves costs no more than one tree of a + b - 1 leaves. *)
Lemma from_two_superadditive g a b :
  (forall i j, (i <= j)%nat -> (1 <= i)%nat -> (j <= a + b)%nat -> g i <= g j) ->
  (1 <= a)%nat -> (1 <= b)%nat -> from_two g a + from_two g b <= from_two g (a + b - 1).
Proof.
  intros Hg Ha Hb. rewrite (from_two_split g a (a + b - 1)) by lia.
  apply Rplus_le_compat_l. unfold from_two.
  replace (a + b - 1 - a)%nat with (b - 1)%nat by lia.
  apply sum_from_le; intros i Hi; apply Hg; lia.
Qed.

(** Convexity: two subtrees of at most h leaves each cost no more than one of h and one of what remains. *)
Lemma from_two_exchange g a b h :
  (forall i j, (i <= j)%nat -> (1 <= i)%nat -> (j <= a + b)%nat -> g i <= g j) ->
  (1 <= a)%nat -> (1 <= b)%nat -> (a <= h)%nat -> (b <= h)%nat -> (h < a + b)%nat ->
  from_two g a + from_two g b <= from_two g h + from_two g (a + b - h).
Proof.
  intros Hg Ha Hb Hah Hbh Hh.
  rewrite (from_two_split g a h) by lia. rewrite (from_two_split g (a + b - h) b) by lia.
  replace (b - (a + b - h))%nat with (h - a)%nat by lia.
  enough (sum_from (a + b - h + 1) (h - a) g <= sum_from (a + 1) (h - a) g) by lra.
  apply sum_from_le; intros i Hi; apply Hg; lia.
Qed.
