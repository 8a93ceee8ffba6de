# The course's pipelining lab in the way that its users write it. torchvision
# finds the data in the folder of the first argument; the second makes it short.
import sys

import poptorch
import torch
import torch.nn as nn
import torchvision
from tqdm import tqdm

EPOCHS = 3
BATCH, TEST_BATCH = 40, 8
TRAINING_ITERATIONS, INFERENCE_ITERATIONS = 10, 100
ACCUMULATION = 10
BLOCKS = ("B1", "B2", "B3", "B4")


class ConvLayer(nn.Module):
    def __init__(self, in_channels, num_filters, kernel_size, pool_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, num_filters, kernel_size)
        self.pool = nn.MaxPool2d(kernel_size=pool_size)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.pool(self.conv(x)))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = ConvLayer(1, 10, 5, 2)
        self.layer2 = ConvLayer(10, 20, 5, 2)
        self.layer3 = nn.Linear(320, 256)
        self.layer3_act = nn.ReLU()
        self.layer4 = nn.Linear(256, 10)

    def forward(self, x):
        with poptorch.Block("B1"):
            x = self.layer1(x)
        with poptorch.Block("B2"):
            x = self.layer2(x)
        with poptorch.Block("B3"):
            x = self.layer3_act(self.layer3(x.view(-1, 320)))
        with poptorch.Block("B4"):
            return self.layer4(x)


class TrainingModelWithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.loss = nn.CrossEntropyLoss()

    def forward(self, args, labels=None):
        output = self.model(args)
        if labels is None:
            return output
        with poptorch.Block("B4"):
            return output, self.loss(output, labels)


def accuracy(predictions, labels):
    _, found = torch.max(predictions, 1)
    labels = labels[-predictions.size()[0]:]
    return torch.sum(torch.eq(found, labels)).item() / len(labels) * 100.0


def loader(options, folder, train, batch, images):
    transform = torchvision.transforms.Compose([
        torchvision.transforms.ToTensor(),
        torchvision.transforms.Normalize((0.1307,), (0.3081,)),
    ])
    dataset = torchvision.datasets.MNIST(
        folder, train=train, download=True, transform=transform)
    if images is not None:
        dataset = torch.utils.data.Subset(dataset, range(images))
    return poptorch.DataLoader(
        options, dataset, batch_size=batch, shuffle=True, drop_last=True,
        mode=poptorch.DataLoaderMode.Async, num_workers=16)


def main(folder, images=None):
    torch.manual_seed(0)
    # Loaders have options of their own: they freeze what they are given.
    options = poptorch.Options().deviceIterations(TRAINING_ITERATIONS)
    options.Training.gradientAccumulation(ACCUMULATION)
    training_data = loader(options, folder, True, BATCH, images)
    test_data = loader(
        poptorch.Options().deviceIterations(INFERENCE_ITERATIONS), folder,
        False, TEST_BATCH, images)

    train_opts = poptorch.Options()
    train_opts.setExecutionStrategy(poptorch.PipelinedExecution(
        *(poptorch.Stage(b).ipu(i) for i, b in enumerate(BLOCKS))))
    train_opts.deviceIterations(TRAINING_ITERATIONS)
    train_opts.Training.gradientAccumulation(ACCUMULATION)
    train_opts.outputMode(poptorch.OutputMode.All)
    model = Network()
    training_model = poptorch.trainingModel(
        TrainingModelWithLoss(model), train_opts,
        optimizer=poptorch.optim.AdamW(model.parameters(), lr=0.001))
    for epoch in range(1, EPOCHS + 1):
        print(f"Epoch {epoch}/{EPOCHS}")
        bar = tqdm(training_data, total=len(training_data))
        for data, labels in bar:
            preds, losses = training_model(data, labels)
            bar.set_description(f"Loss:{torch.mean(losses).item():0.4f} | "
                                f"Accuracy:{accuracy(preds, labels):0.2f}%")
    training_model.detachFromDevice()

    inf_options = train_opts.clone()
    inf_options.Training.gradientAccumulation(1)
    inf_options.deviceIterations(INFERENCE_ITERATIONS)
    inference_model = poptorch.inferenceModel(model, inf_options)
    sum_acc = 0.0
    for data, labels in tqdm(test_data, total=len(test_data)):
        sum_acc += accuracy(inference_model(data), labels)
    inference_model.detachFromDevice()
    print(f"Accuracy on test set: {sum_acc / len(test_data):0.2f}%")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
