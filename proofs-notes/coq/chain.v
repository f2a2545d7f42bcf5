(** Lemma S, part (ii): the inner nodes with more than half of the leaves form one chain from the root, the sum below
    each is the whole sum less a few terms, and what hangs off the chain costs no more than one tree of h leaves and one
    of the rest. *)
Require Import Reals Lia Lra List Permutation.
Require Import Etalon.sums Etalon.tree.
Import ListNotations.
Local Open Scope R_scope.

Section Chain.

Variable f : nat -> R.
Variable phi : R -> R.
Variables n h : nat.
Variable s : R.  (* at least the magnitude of the whole sum *)

Hypothesis f_nonnegative : forall k, 0 <= f k.
Hypothesis f_nondecreasing : nondecreasing_to n f.
Hypothesis phi_nondecreasing : nondecreasing phi.
Hypothesis s_nonnegative : 0 <= s.
Hypothesis half : (2 * h <= n)%nat /\ (n <= 2 * h + 1)%nat /\ (1 <= h)%nat.

Let cost (k : nat) : R := from_two (fun i => phi (f i)) k.

(** phi(s + f(n - h - 1)) + ... + phi(s + f(n - h - m)) *)
Definition along (m : nat) : R := sum_from (n - h - m) m (fun j => phi (s + f j)).

(** Every subtree v is what a tree of n terms leaves when some of them are taken away. *)
Definition part_of_sum (v : tree) : Prop :=
  bounds_partial_sums f (leaves v) /\
  Rabs (total v) <= s + f (n - size v).

Lemma phi_f_nondecreasing i j : (i <= j)%nat -> (1 <= i)%nat -> (j <= n)%nat -> phi (f i) <= phi (f j).
Proof. intros Hij _ Hj. apply phi_nondecreasing; [apply f_nonnegative | now apply f_nondecreasing]. Qed.

Lemma cost_superadditive a b : (1 <= a)%nat -> (1 <= b)%nat -> (a + b <= n)%nat -> cost a + cost b <= cost (a + b - 1).
Proof.
  intros Ha Hb Hn. apply from_two_superadditive; auto. intros; apply phi_f_nondecreasing; lia.
Qed.

Lemma light_cost v : (size v <= n)%nat -> bounds_partial_sums f (leaves v) -> over_nodes phi v <= cost (size v).
Proof.
  intros Hn Hv. apply nodes_cost; auto. intros i j; intros; apply f_nondecreasing; lia.
Qed.

Lemma along_step m : (m < n - h)%nat -> along (S m) = phi (s + f (n - h - S m)) + along m.
Proof. intros Hm. unfold along. simpl. f_equal. f_equal. lia. Qed.

Lemma node_on_chain v m : part_of_sum v -> (m < n - h)%nat -> (h + S m <= size v)%nat -> (size v <= n)%nat ->
  phi (Rabs (total v)) <= phi (s + f (n - h - S m)).
Proof.
  intros [_ Hv] Hm Hk Hn. apply phi_nondecreasing; [apply Rabs_pos|].
  apply Rle_trans with (1 := Hv). apply Rplus_le_compat_l. apply f_nondecreasing; lia.
Qed.

(** All subtrees of v are parts of the sum. *)
Fixpoint parts (v : tree) : Prop :=
  part_of_sum v /\ match v with Leaf _ => True | Node l r => parts l /\ parts r end.

Lemma parts_bounds v : parts v -> bounds_partial_sums f (leaves v).
Proof. destruct v; intros H; apply H. Qed.

(** A heavy subtree with m nodes on the chain. *)
Lemma heavy v : parts v -> (h < size v)%nat -> (size v < n)%nat ->
  exists m, (1 <= m)%nat /\ (m <= size v - h)%nat /\
    over_nodes phi v <= along m + cost h + cost (size v - h - m + 1).
Proof.
  induction v as [x|l IHl r IHr]; intros Hp Hh Hn; [simpl in Hh; lia|].
  destruct Hp as [Hv [Hl Hr]].
  set (k := size (Node l r)) in *. assert (Hk : k = (size l + size r)%nat) by reflexivity.
  generalize (size_positive l) (size_positive r); intros Pl Pr.
  assert (Ll : over_nodes phi l <= cost (size l)) by (apply light_cost; [lia | now apply parts_bounds]).
  assert (Lr : over_nodes phi r <= cost (size r)) by (apply light_cost; [lia | now apply parts_bounds]).
  change (over_nodes phi (Node l r))
    with (phi (Rabs (total (Node l r))) + over_nodes phi l + over_nodes phi r).
  assert (Step : forall m c, (1 <= c)%nat -> (1 <= m)%nat -> (m <= k - c - h)%nat -> (h < k - c)%nat ->
    phi (Rabs (total (Node l r))) + (along m + cost h + cost (k - c - h - m + 1)) + cost c
      <= along (S m) + cost h + cost (k - h - S m + 1)).
  { intros m c Hc Hm1 Hm Hkc. rewrite along_step by lia.
    assert (N : phi (Rabs (total (Node l r))) <= phi (s + f (n - h - S m))) by (apply node_on_chain; auto; lia).
    generalize (cost_superadditive (k - c - h - m + 1) c ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (k - c - h - m + 1 + c - 1)%nat with (k - h - S m + 1)%nat by lia. lra. }
  destruct (le_lt_dec (size l) h) as [Hsl|Hsl]; [destruct (le_lt_dec (size r) h) as [Hsr|Hsr]|].
  - exists 1%nat. repeat split; try lia. rewrite along_step by lia. unfold along at 1; simpl sum_from.
    assert (N : phi (Rabs (total (Node l r))) <= phi (s + f (n - h - 1))) by (apply node_on_chain; auto; lia).
    assert (E : cost (size l) + cost (size r) <= cost h + cost (size l + size r - h)).
    { apply from_two_exchange; try lia. intros; apply phi_f_nondecreasing; lia. }
    rewrite <- Hk in E. replace (k - h - 1 + 1)%nat with (k - h)%nat by lia. lra.
  - destruct (IHr Hr ltac:(lia) ltac:(lia)) as [m [M1 [M2 M3]]]. exists (S m). repeat split; try lia.
    generalize (Step m (size l) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (k - size l)%nat with (size r) by lia. lra.
  - destruct (IHl Hl ltac:(lia) ltac:(lia)) as [m [M1 [M2 M3]]]. exists (S m). repeat split; try lia.
    generalize (Step m (size r) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (k - size r)%nat with (size l) by lia. lra.
Qed.

(** The whole tree: m nodes on the chain besides the root. *)
Lemma whole l r : parts l -> parts r -> size (Node l r) = n -> Rabs (total (Node l r)) <= s ->
  exists m, (m <= n - h - 1)%nat /\
    over_nodes phi (Node l r) <= phi s + along m + cost h + cost (n - h - m).
Proof.
  intros Hl Hr Hk Hs. assert (Hk' : n = (size l + size r)%nat) by (symmetry; exact Hk).
  generalize (size_positive l) (size_positive r); intros Pl Pr.
  assert (Ll : over_nodes phi l <= cost (size l)) by (apply light_cost; [lia | now apply parts_bounds]).
  assert (Lr : over_nodes phi r <= cost (size r)) by (apply light_cost; [lia | now apply parts_bounds]).
  change (over_nodes phi (Node l r))
    with (phi (Rabs (total (Node l r))) + over_nodes phi l + over_nodes phi r).
  assert (N : phi (Rabs (total (Node l r))) <= phi s) by (apply phi_nondecreasing; [apply Rabs_pos | exact Hs]).
  destruct (le_lt_dec (size l) h) as [Hsl|Hsl]; [destruct (le_lt_dec (size r) h) as [Hsr|Hsr]|].
  - exists 0%nat. split; [lia|]. unfold along; simpl sum_from.
    replace (size l) with h in * by lia. replace (size r) with h in * by lia.
    replace (n - h - 0)%nat with h by lia. lra.
  - destruct (heavy r Hr ltac:(lia) ltac:(lia)) as [m [M1 [M2 M3]]]. exists m. split; [lia|].
    generalize (cost_superadditive (size r - h - m + 1) (size l) ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (size r - h - m + 1 + size l - 1)%nat with (n - h - m)%nat by lia. lra.
  - destruct (heavy l Hl ltac:(lia) ltac:(lia)) as [m [M1 [M2 M3]]]. exists m. split; [lia|].
    generalize (cost_superadditive (size l - h - m + 1) (size r) ltac:(lia) ltac:(lia) ltac:(lia)).
    replace (size l - h - m + 1 + size r - 1)%nat with (n - h - m)%nat by lia. lra.
Qed.

(** The third form of Lemma S before phi is chosen. *)
Definition chain_cost : R :=
  cost h + cost (n - h) + phi s
  + sum_from 1 (n - h - 1) (fun j => Rmax 0 (phi (s + f j) - phi (f (j + 1)))).

Lemma whole_cost m : (m <= n - h - 1)%nat -> phi s + along m + cost h + cost (n - h - m) <= chain_cost.
Proof.
  intros Hm. unfold chain_cost.
  assert (C : cost (n - h) = cost (n - h - m) + sum_from (n - h - m + 1) m (fun k => phi (f k))).
  { unfold cost. rewrite (from_two_split _ (n - h - m) (n - h)) by lia. f_equal. f_equal; lia. }
  rewrite C.
  replace (n - h - 1)%nat with ((n - h - 1 - m) + m)%nat at 1 by lia.
  rewrite sum_from_split.
  assert (P : 0 <= sum_from 1 (n - h - 1 - m) (fun j => Rmax 0 (phi (s + f j) - phi (f (j + 1))))).
  { apply sum_from_nonnegative; intros; apply Rmax_l. }
  assert (D : along m <= sum_from (n - h - m + 1) m (fun k => phi (f k))
              + sum_from (1 + (n - h - 1 - m)) m (fun j => Rmax 0 (phi (s + f j) - phi (f (j + 1))))).
  { unfold along. replace (1 + (n - h - 1 - m))%nat with (n - h - m)%nat by lia.
    rewrite (sum_from_eq (fun k => phi (f k)) (fun j => phi (f (j + 1))) (n - h - m + 1) (n - h - m) m)
      by (intros i _; do 2 f_equal; lia).
    rewrite <- sum_from_plus. apply sum_from_le; intros i _.
    generalize (Rmax_r 0 (phi (s + f (n - h - m + i)) - phi (f (n - h - m + i + 1)))). lra. }
  lra.
Qed.

End Chain.

(** Subtrees of a tree are parts of its sum. *)
Lemma parts_of_tree f n s root :
  bounds_partial_sums f (leaves root) -> size root = n -> Rabs (total root) <= s ->
  forall v others, Permutation (leaves root) (leaves v ++ others) -> parts f n s v.
Proof.
  intros Hf Hn Hs. induction v as [x|l IHl r IHr]; intros others P.
  - split; [|exact I]. split.
    + intros some rest Q. apply (Hf some (rest ++ others)). rewrite app_assoc.
      apply Permutation_trans with (1 := P). now apply Permutation_app_tail.
    + assert (S : total root = total (Leaf x) + list_sum others).
      { rewrite !total_is_list_sum, (list_sum_permutation _ _ P), list_sum_app. reflexivity. }
      assert (L : length others = (n - size (Leaf x))%nat).
      { generalize (Permutation_length P). rewrite app_length, !length_leaves. simpl. lia. }
      assert (B : Rabs (list_sum others) <= f (n - size (Leaf x))%nat).
      { rewrite <- L. apply (Hf others (leaves (Leaf x))).
        apply Permutation_trans with (1 := P). apply Permutation_app_comm. }
      replace (total (Leaf x)) with (total root + - list_sum others) by lra.
      apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
  - split; [|split].
    + split.
      * intros some rest Q. apply (Hf some (rest ++ others)). rewrite app_assoc.
        apply Permutation_trans with (1 := P). now apply Permutation_app_tail.
      * assert (S : total root = total (Node l r) + list_sum others).
        { rewrite !total_is_list_sum, (list_sum_permutation _ _ P), list_sum_app. reflexivity. }
        assert (L : length others = (n - size (Node l r))%nat).
        { generalize (Permutation_length P). rewrite app_length, !length_leaves. lia. }
        assert (B : Rabs (list_sum others) <= f (n - size (Node l r))%nat).
        { rewrite <- L. apply (Hf others (leaves (Node l r))).
          apply Permutation_trans with (1 := P). apply Permutation_app_comm. }
        replace (total (Node l r)) with (total root + - list_sum others) by lra.
        apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
    + apply (IHl (leaves r ++ others)). rewrite app_assoc. exact P.
    + apply (IHr (leaves l ++ others)). apply Permutation_trans with (1 := P). simpl.
      rewrite app_assoc. apply Permutation_app_tail. apply Permutation_app_comm.
Qed.

(** Lemma S (ii): what the inner nodes of a tree of n leaves cost, h = n / 2. *)
Theorem chain_bounds_nodes f phi t s :
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) -> nondecreasing phi ->
  (2 <= size t)%nat -> Rabs (total t) <= s ->
  over_nodes phi t <= chain_cost f phi (size t) (Nat.div2 (size t)) s.
Proof.
  intros Hf Hm H0 Hphi Hn Hs. destruct t as [x|l r]; [simpl in Hn; lia|].
  set (n := size (Node l r)) in *.
  assert (half : (2 * Nat.div2 n <= n)%nat /\ (n <= 2 * Nat.div2 n + 1)%nat /\ (1 <= Nat.div2 n)%nat).
  { generalize (Nat.div2_odd n). destruct (Nat.odd n); simpl Nat.b2n; lia. }
  assert (S0 : 0 <= s) by (apply Rle_trans with (2 := Hs); apply Rabs_pos).
  assert (Hl : parts f n s l).
  { apply (parts_of_tree f n s (Node l r) Hf eq_refl Hs l (leaves r)). reflexivity. }
  assert (Hr : parts f n s r).
  { apply (parts_of_tree f n s (Node l r) Hf eq_refl Hs r (leaves l)). apply Permutation_app_comm. }
  destruct (whole f phi n (Nat.div2 n) s H0 Hm Hphi half l r Hl Hr eq_refl Hs) as [m [M1 M2]].
  apply Rle_trans with (1 := M2). now apply whole_cost.
Qed.
