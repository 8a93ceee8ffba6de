"""A first PopTorch program: a small CNN learns to tell clothes apart.

An ordinary PyTorch module becomes an IPU program by wrapping it; the loss is
computed inside forward(), so that it runs on the IPU too. The program trains
the network, saves it, evaluates what was saved, draws which classes it
confuses, and classifies pictures of your own, on the IPU and on the CPU. Where
Fashion-MNIST is not found, handwritten digits take its place.
"""

import argparse
from pathlib import Path

import poptorch
import torch
from PIL import Image, ImageDraw, ImageOps
from torch import nn
from tqdm import tqdm

import datasets

MEAN, DEVIATION = 0.5, 0.5
CLOTHES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal",
           "Shirt", "Sneaker", "Bag", "Ankle boot")
DIGITS = tuple("0123456789")


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12),
        )
        self.classes = nn.Sequential(
            nn.Flatten(), nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10),
            nn.LogSoftmax(dim=1),
        )
        self.loss = nn.NLLLoss()

    def forward(self, images, labels=None):
        scores = self.classes(self.features(images))
        if self.training:
            return scores, self.loss(scores, labels)
        return scores


def options_of(arguments) -> poptorch.Options:
    """How the model runs is said by options, whose methods can be chained."""
    options = poptorch.Options().deviceIterations(arguments.device_iterations)
    options.replicationFactor(arguments.replicas)
    if arguments.seed is not None:
        options.randomSeed(arguments.seed)
    if arguments.ipu_model:
        options.useIpuModel(True)
    return options


def train(network, dataset, options, epochs: int, workers: int):
    optimizer = poptorch.optim.SGD(network.parameters(), lr=0.001,
                                   momentum=0.9)
    model = poptorch.trainingModel(network.train(), options, optimizer)
    loader = poptorch.DataLoader(options, dataset, batch_size=16, shuffle=True,
                                 num_workers=workers)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for images, labels in tqdm(loader, desc=f"Epoch {epoch}/{epochs}"):
            _, loss = model(images, labels)
            total += loss.mean().item()  # one loss for each replica
        print(f"Mean loss: {total / len(loader):.4f}")
    # Gives the IPU back, and the weights to `network`.
    model.detachFromDevice()


def restored(file: Path) -> Classifier:
    """The network as it was saved: plain PyTorch, with nothing of PopTorch."""
    network = Classifier()
    network.load_state_dict(torch.load(file))
    return network.eval()


def confusions(network, dataset, options) -> torch.Tensor:
    """How often images of class i were taken for class j, at [i, j]."""
    model = poptorch.inferenceModel(network, options)
    loader = poptorch.DataLoader(options, dataset, batch_size=20)
    counts = torch.zeros(10, 10, dtype=torch.int64)
    for images, labels in loader:
        found = model(images).argmax(dim=1)
        pairs = torch.bincount(labels * 10 + found, minlength=100)
        counts += pairs.view(10, 10)
    model.detachFromDevice()
    return counts


def draw_confusions(counts: torch.Tensor, classes, file: Path):
    """Rows are true classes, columns what was found; darker is more often."""
    cell, margin = 48, 90
    shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    size = margin + 10 * cell
    picture = Image.new("L", (size, size), 255)
    draw = ImageDraw.Draw(picture)
    for i in range(10):
        draw.text((4, margin + i * cell + 18), classes[i], fill=0)
        draw.text((margin + i * cell + 2, margin - 16), classes[i][:7], fill=0)
        for j in range(10):
            x, y = margin + j * cell, margin + i * cell
            share = shares[i, j].item()
            draw.rectangle((x, y, x + cell, y + cell), outline=192,
                           fill=int(255 * (1 - share)))
            draw.text((x + 6, y + 18), str(counts[i, j].item()),
                      fill=255 if share > 0.5 else 0)
    picture.save(file)


def read_image(file: Path) -> torch.Tensor:
    """A batch of one picture, made as those of the set are: 28 x 28 greys on a
    dark background."""
    picture = ImageOps.grayscale(Image.open(file)).resize((28, 28))
    if picture.getpixel((1, 1)) > 200:
        picture = ImageOps.invert(picture)
    pixels = torch.tensor(list(picture.getdata()), dtype=torch.float32)
    return ((pixels / 255 - MEAN) / DEVIATION).view(1, 1, 28, 28)


def classify(network, files, classes):
    """What the pictures show, according to the IPU and to the CPU."""
    model = poptorch.inferenceModel(network, poptorch.Options())
    for file in files:
        image = read_image(file)
        on_ipu = classes[int(model(image).argmax())]
        on_cpu = classes[int(network(image).argmax())]
        print(f"{file}: {on_ipu} on the IPU, {on_cpu} on the CPU")
    model.detachFromDevice()


def parse_arguments(is_small: bool):
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("files", nargs="*", type=Path, help="pictures of your own to classify")
    add("--epochs", type=int, default=20 if is_small else 5)
    add("--images", type=int, help="train on the first N images only")
    add("--workers", type=int, default=0, help="processes that load data")
    add("--device-iterations", type=int, default=1,
        help="batches that the IPU works through in one call")
    add("--replicas", type=int, default=1, help="IPUs that share the work")
    add("--seed", type=int, help="of the IPU's and PyTorch's random numbers")
    add("--ipu-model", action="store_true",
        help="run on the IPU model instead of the emulated machine")
    add("--output", type=Path, default=Path("."),
        help="where classifier.pth and confusion_matrix.png go")
    return parser.parse_args()


def main():
    torch.manual_seed(42)
    data = datasets.load("Fashion-MNIST", "MNIST", mean=MEAN,
                         deviation=DEVIATION)
    classes = CLOTHES if "Fashion" in data.name else DIGITS
    arguments = parse_arguments(data.is_small)
    arguments.output.mkdir(parents=True, exist_ok=True)
    print(f"Data: {data.name}")

    options = options_of(arguments)
    network = Classifier()
    train(network, data.train.first(arguments.images).dataset(), options,
          arguments.epochs, arguments.workers)
    file = arguments.output / "classifier.pth"
    torch.save(network.state_dict(), file)

    network = restored(file)
    counts = confusions(network, data.test.dataset(), options)
    draw_confusions(counts, classes, arguments.output / "confusion_matrix.png")
    accuracy = 100 * counts.diagonal().sum().item() / counts.sum().item()
    print(f"Accuracy on the test set: {accuracy:.2f} %")
    if arguments.files:
        classify(network, arguments.files, classes)


if __name__ == "__main__":
    main()
