"""Fine-tuning a BERT of Hugging Face's transformers as a pipeline over IPUs.

The model finds the answer to a question in a text: for each word it says how
likely the answer begins or ends there. Its weights are random and its size is
small, so that nothing has to be downloaded; a trained one is fine-tuned the
same way, from BertForQuestionAnswering.from_pretrained(). The task is made up:
each text has one marked word, where the answer starts, and says how long it is.

    scripts/install-wheels.sh
    source build/sdk/enable.sh
    build/venv/bin/python3 examples/poptorch/finetuning_bert.py
"""

import argparse

import poptorch
import torch
import transformers

WORDS, LENGTH = 64, 32
PAD, MARK, FIRST_LENGTH = 0, 1, 2  # what the first words of the list mean
LONGEST = 4


class QuestionAnswering(transformers.BertForQuestionAnswering):
    """The loss is summed by hand, so that it is the last of the operations that
    the IPUs run and PopTorch knows it as the loss."""

    def forward(self, input_ids, attention_mask, start=None, end=None):
        output = super().forward(input_ids, attention_mask=attention_mask,
                                 start_positions=start, end_positions=end,
                                 return_dict=False)
        if start is None:
            return output
        loss, *scores = output
        return poptorch.identity_loss(loss, reduction="none"), *scores


def network_of(layers: int) -> QuestionAnswering:
    return QuestionAnswering(transformers.BertConfig(
        vocab_size=WORDS, hidden_size=64, num_hidden_layers=layers,
        num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=LENGTH, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0))


def place(network: QuestionAnswering, ipus: int):
    """The embeddings on the first IPU, and the layers evenly over all."""
    layers = network.bert.encoder.layer
    network.bert.embeddings = poptorch.BeginBlock(
        network.bert.embeddings, "Embeddings", ipu_id=0)
    for i, layer in enumerate(layers):
        layers[i] = poptorch.BeginBlock(layer, f"Layer{i}",
                                        ipu_id=i * ipus // len(layers))
        # Of a stage, only what leaves its layers is kept for the backward pass.
        layer.register_forward_hook(
            lambda _, __, output: poptorch.recomputationCheckpoint(output))
    network.qa_outputs = poptorch.BeginBlock(network.qa_outputs, "Answer",
                                             ipu_id=ipus - 1)


class Texts(torch.utils.data.Dataset):
    """(words, mask, where the answer starts, where it ends)"""

    def __init__(self, count: int, seed: int):
        self.count, self.seed = count, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + index)

        def draw(low, high):
            return int(torch.randint(low, high, (), generator=generator))

        words = torch.randint(FIRST_LENGTH + LONGEST, WORDS, (LENGTH,),
                              generator=generator)
        end_of_text = draw(LENGTH // 2, LENGTH + 1)
        words[end_of_text:] = PAD
        length = draw(0, LONGEST)
        start = draw(1, end_of_text - LONGEST)
        words[0] = FIRST_LENGTH + length
        words[start] = MARK
        mask = (torch.arange(LENGTH) < end_of_text).long()
        return words, mask, start, start + length


def options_of(arguments, is_training: bool) -> poptorch.Options:
    options = poptorch.Options().randomSeed(42)
    options.setExecutionStrategy(poptorch.PipelinedExecution(
        poptorch.AutoStage.AutoIncrement))
    options.autoRoundNumIPUs(True)
    if is_training:
        options.Training.gradientAccumulation(arguments.accumulation)
        options.outputMode(poptorch.OutputMode.All)
        # The optimiser's state is needed once in a step: it may wait outside.
        options.TensorLocations.setOptimizerLocation(
            poptorch.TensorLocationSettings().useOnChipStorage(False))
    else:
        options.deviceIterations(8)
    if arguments.cache:
        options.enableExecutableCaching(arguments.cache)
    return options


def optimizer_of(network, learning_rate: float):
    """Biases and norms are not decayed: they are in a group of their own."""
    plain, decayed = [], []
    for name, parameter in network.named_parameters():
        is_plain = name.endswith("bias") or "LayerNorm" in name
        (plain if is_plain else decayed).append(parameter)
    return poptorch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01},
         {"params": plain, "weight_decay": 0.0}],
        lr=learning_rate, loss_scaling=64.0)


def train(network, arguments):
    options = options_of(arguments, is_training=True)
    optimizer = optimizer_of(network, arguments.learning_rate)
    loader = poptorch.DataLoader(options, Texts(arguments.texts, seed=0),
                                 batch_size=arguments.batch_size, shuffle=True)
    steps = arguments.epochs * len(loader)
    # Warms up over a tenth of the steps, then goes down to nothing.
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(
        10 * (step + 1) / steps, (steps - step) / steps))
    model = poptorch.trainingModel(network.train(), options, optimizer)
    for epoch in range(1, arguments.epochs + 1):
        total = 0.0
        for batch in loader:
            loss, *_ = model(*batch)
            total += loss.mean().item()
            schedule.step()
            model.setOptimizer(optimizer)  # or the IPUs keep the old rate
        print(f"Epoch {epoch}: loss {total / len(loader):.4f}", flush=True)
    model.detachFromDevice()


def evaluate(network, arguments) -> float:
    options = options_of(arguments, is_training=False)
    model = poptorch.inferenceModel(network.eval(), options)
    loader = poptorch.DataLoader(options, Texts(512, seed=1),
                                 batch_size=arguments.batch_size)
    right = count = 0
    for words, mask, start, end in loader:
        starts, ends = model(words, mask)
        found = (starts.argmax(dim=1) == start) & (ends.argmax(dim=1) == end)
        right += found.sum().item()
        count += len(start)
    model.detachFromDevice()
    return 100 * right / count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--layers", type=int, default=4)
    add("--ipus", type=int, default=2)
    add("--texts", type=int, default=8192)
    add("--epochs", type=int, default=4)
    add("--batch-size", type=int, default=8)
    add("--accumulation", type=int, default=8)
    add("--learning-rate", type=float, default=2e-3)
    add("--cache", help="a folder for compiled programs")
    arguments = parser.parse_args()
    torch.manual_seed(42)
    network = network_of(arguments.layers)
    place(network, arguments.ipus)
    train(network, arguments)
    print(f"Answers found: {evaluate(network, arguments):.1f} %")


if __name__ == "__main__":
    main()
