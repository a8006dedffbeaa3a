"""What differs between types of encoders: where their layers are, what is done around them, what a layer is given.

| family | `model_type` | positions |
|---|---|---|
| `Bert` | bert (MiniLM, E5, GTE), roberta, xlm-roberta, electra | embeddings |
| `DistilBert` | distilbert | embeddings |
| `Albert` | albert | embeddings; all layers have the same weights |
| `MPNet` | mpnet | embeddings, and a bias on attention by distance |
| `ModernBert` | modernbert | rotations of queries and keys; two layers of three read a window only |
| `DebertaV2` | deberta-v2 (v3 too) | embeddings of distances, attended to beside the tokens |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from cascada.core.errors import CascadaError


class Bert:
    """An encoder whose layers take states and a mask; also the base of the other families."""

    layers_at = "encoder.layer"
    words_at = "embeddings.word_embeddings"
    feed_forward_name = "intermediate_size"
    relative = False
    """Whether a layer reads positions, so that what it computes depends on where tokens stand in the whole input."""
    final_norm = False
    """Whether a norm follows the last layer; states are read after it only (see `output`)."""

    def __init__(self, encoder: nn.Module) -> None:
        self.encoder: Any = encoder
        self.config: Any = encoder.config

    @property
    def layers(self) -> Sequence[nn.Module]:
        return self.encoder.get_submodule(self.layers_at)  # type: ignore[no-any-return]

    def cut(self, layers: int) -> None:
        """Keep the first layers."""
        del self.layers[layers:]  # type: ignore[attr-defined]

    @property
    def words(self) -> Tensor:
        """The embedding table, (vocabulary, width)."""
        return self.encoder.get_submodule(self.words_at).weight  # type: ignore[no-any-return]

    @property
    def positions(self) -> Tensor | None:
        """The table of position embeddings, (positions, width), if there is one."""
        table = getattr(self.encoder.embeddings, "position_embeddings", None)
        return None if table is None else table.weight

    @property
    def project(self) -> nn.Linear | None:
        """The layer from the embeddings' width to the hidden size, where they differ: ELECTRA's small models."""
        return getattr(self.encoder, "embeddings_project", None)

    @property
    def feed_forward_size(self) -> int:
        return int(getattr(self.config, self.feed_forward_name))

    def embed(self, ids: Tensor, types: Tensor) -> Tensor:
        """Token and type ids, both (pairs, tokens), to states (pairs, tokens, hidden)."""
        inputs = {"input_ids": ids}
        if getattr(self.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = types
        states: Tensor = self.encoder.embeddings(**inputs)
        return states if self.project is None else self.project(states)

    def run(self, states: Tensor, mask: Tensor, first: int, last: int) -> Tensor:
        """Layers first+1 to last on (pairs, tokens, hidden) states; `mask` (pairs, tokens) is True on real tokens."""
        arguments = self.arguments(states, mask)
        for layer in self.layers[first:last]:
            output = layer(states, *arguments)
            states = output[0] if isinstance(output, tuple) else output
        return states

    def arguments(self, states: Tensor, mask: Tensor) -> list[Tensor | None]:
        """What every layer is given besides the states."""
        return [additive_mask(mask, states.dtype)]

    def output(self, states: Tensor) -> Tensor:
        """The states after a layer as a head reads them, or a comparison of states."""
        return states


class DistilBert(Bert):
    layers_at = "transformer.layer"
    feed_forward_name = "hidden_dim"


class MPNet(Bert):
    relative = True

    def arguments(self, states: Tensor, mask: Tensor) -> list[Tensor | None]:
        return [*super().arguments(states, mask), self.encoder.encoder.compute_position_bias(states)]


class Albert(Bert):
    """One layer, run as often as the config says."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__(encoder)
        for name in ("num_hidden_groups", "inner_group_num"):
            if getattr(self.config, name) != 1:
                raise CascadaError(
                    f"The encoder has {name} {getattr(self.config, name)}; of ALBERT, only models with one layer that "
                    "is repeated are supported."
                )
        self.depth = int(self.config.num_hidden_layers)

    @property
    def layers(self) -> Sequence[nn.Module]:
        return [self.encoder.encoder.albert_layer_groups[0].albert_layers[0]] * self.depth

    def cut(self, layers: int) -> None:
        self.depth = layers

    @property
    def project(self) -> nn.Linear | None:
        return self.encoder.encoder.embedding_hidden_mapping_in  # type: ignore[no-any-return]


class ModernBert(Bert):
    """An encoder with pre-norm layers and a final norm after the last one. `output` applies the final norm after any
    layer that is read; `run` passes the states on without it."""

    layers_at = "layers"
    words_at = "embeddings.tok_embeddings"
    relative = True
    final_norm = True

    @property
    def feed_forward_size(self) -> int:
        """Of a plain feed-forward layer with as many operations: a gated one has three products, not two."""
        return super().feed_forward_size * 3 // 2

    def run(self, states: Tensor, mask: Tensor, first: int, last: int) -> Tensor:
        layers: Sequence[Any] = self.layers[first:last]
        places = torch.arange(states.shape[1], device=states.device)
        far = (places[:, None] - places).abs() > self.config.sliding_window  # (tokens, tokens)
        masks, rotations = {}, {}
        for kind in {layer.attention_type for layer in layers}:
            masks[kind] = additive_mask(mask, states.dtype)
            if kind == "sliding_attention" and bool(far.any()):
                seen = mask[:, None, None, :] & ~far  # (pairs, 1, tokens, tokens)
                masks[kind] = lowest_where(~seen, states.dtype)
            rotations[kind] = self.encoder.rotary_emb(states, places[None], kind)
        for layer in layers:
            kind = layer.attention_type
            states = layer(states, attention_mask=masks[kind], position_embeddings=rotations[kind])
        return states

    def output(self, states: Tensor) -> Tensor:
        return self.encoder.final_norm(states)  # type: ignore[no-any-return]


class DebertaV2(Bert):
    """Both DeBERTa-v2, whose first layer is followed by a convolution, and DeBERTa-v3."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__(encoder)
        if self.encoder.embeddings.embed_proj is not None:
            raise CascadaError("The encoder's embeddings are narrower than its states, which is not supported.")

    @property
    def relative(self) -> bool:  # type: ignore[override]
        return bool(self.encoder.encoder.relative_attention or self.encoder.encoder.conv)

    def run(self, states: Tensor, mask: Tensor, first: int, last: int) -> Tensor:
        stack = self.encoder.encoder
        if first == 0:
            states = states * mask[..., None]  # the convolution reads padding too
        embedded, distances = states, stack.get_rel_pos(states)
        seen, table = mask[:, None, None, :] & mask[:, None, :, None], stack.get_rel_embedding()
        for number, layer in enumerate(self.layers[first:last], first):
            states = layer(states, seen, relative_pos=distances, rel_embeddings=table)[0]
            if number == 0 and stack.conv is not None:
                states = stack.conv(embedded, states, mask.long())
        return states


FAMILIES: dict[str, type[Bert]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), Bert),
    "distilbert": DistilBert,
    "mpnet": MPNet,
    "albert": Albert,
    "modernbert": ModernBert,
    "deberta-v2": DebertaV2,
}
"""By `model_type`."""


def additive_mask(mask: Tensor, dtype: torch.dtype) -> Tensor | None:
    """The mask (pairs, 1, 1, tokens) that is added to attention scores: 0 on real tokens, the lowest number on padding.

    None if there is no padding.
    """
    return None if bool(mask.all()) else lowest_where(~mask, dtype)[:, None, None, :]


def lowest_where(hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """The lowest number where `hidden`, 0 elsewhere."""
    return torch.zeros_like(hidden, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)
