"""Networks of Hugging Face's transformers, small and with random weights, with
inputs from which they compute a loss."""

import torch
import transformers

WORDS, LENGTH, ROWS = 60, 10, 2


class Family:
    """A network: its class, the arguments of its configuration, and a function
    that makes inputs."""

    def __init__(self, network, inputs, **arguments):
        self.network = network
        self.inputs = inputs
        self.arguments = arguments

    def make(self):
        """The network without dropout, which draws other numbers."""
        torch.manual_seed(1)
        kind = getattr(transformers, self.network)
        config = kind.config_class(**self.arguments)
        for part in (config, *vars(config).values()):
            if isinstance(part, transformers.PretrainedConfig):
                _withoutDropout(part)
        config.use_cache = False
        network = kind(config)
        for module in network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        # Some start with weights that are equal or zero, and tell nothing.
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.02)
        torch.manual_seed(2)
        return network, self.inputs()


def _withoutDropout(config):
    for name, value in vars(config).items():
        if isinstance(value, float) and "drop" in name:
            setattr(config, name, 0.0)


# Inputs.


def words(length=LENGTH):
    return torch.randint(3, WORDS, (ROWS, length))


def plain(length=LENGTH):
    return dict(input_ids=words(length), labels=words(length))


def text():
    """The second one is shorter."""
    mask = torch.ones(ROWS, LENGTH, dtype=torch.long)
    mask[1, LENGTH - 3 :] = 0
    return dict(input_ids=words(), attention_mask=mask)


def guessed():
    """Words to guess; what is not asked for is -100."""
    labels = words()
    labels[:, ::3] = -100
    return dict(text(), labels=labels)


def continued():
    inputs = text()
    return dict(inputs, labels=inputs["input_ids"].clone())


def classified():
    return dict(text(), labels=torch.tensor([1, 0]))


def tagged():
    return dict(input_ids=words(), labels=torch.randint(0, 2, (ROWS, LENGTH)))


def answered():
    return dict(
        text(), start_positions=torch.tensor([1, 3]),
        end_positions=torch.tensor([2, 5]))  # fmt: skip


def translated():
    return dict(text(), decoder_input_ids=words(7), labels=words(7))


def placed():
    boxes = torch.randint(0, 64, (ROWS, LENGTH, 4)).sort()[0]
    return dict(guessed(), bbox=boxes)


def image(size=32):
    return torch.randn(ROWS, 3, size, size)


def seen(size=32):
    return dict(pixel_values=image(size), labels=torch.tensor([1, 0]))


def segmented():
    return dict(
        pixel_values=image(), labels=torch.randint(0, 3, (ROWS, 32, 32))
    )


def pictured():
    return dict(text(), pixel_values=image(), return_loss=True)


def heard():
    return dict(
        input_values=torch.randn(ROWS, 900), labels=torch.tensor([1, 0])
    )


def spoken(*shape):
    return lambda: dict(
        input_features=torch.randn(ROWS, *shape),
        decoder_input_ids=words(7), labels=words(7))  # fmt: skip


# Arguments that many have in common.

BERT = dict(
    vocab_size=WORDS, hidden_size=16, num_hidden_layers=2,
    num_attention_heads=2, intermediate_size=24, max_position_embeddings=32,
)  # fmt: skip
GPT = dict(vocab_size=WORDS, n_embd=16, n_layer=2, n_head=2, n_positions=32)
BART = dict(
    vocab_size=WORDS, d_model=16, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24,
    decoder_ffn_dim=24, max_position_embeddings=32, pad_token_id=0,
    decoder_start_token_id=1,
)  # fmt: skip
T5 = dict(
    vocab_size=WORDS, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2
)
SPEECH = dict(
    BERT, conv_dim=(8, 8), conv_stride=(5, 4), conv_kernel=(10, 8),
    num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
    num_feat_extract_layers=2, mask_time_prob=0.0, apply_spec_augment=False,
)  # fmt: skip
VIT = dict(
    hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=24, image_size=32, patch_size=8,
)  # fmt: skip
STAGES = dict(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], num_labels=3)
SEGFORMER = dict(STAGES, num_attention_heads=[1, 1, 2, 2])
SWIN = dict(
    image_size=32, patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[2, 2],
    window_size=4, num_labels=3,
)  # fmt: skip


def without(arguments, *names):
    return {k: v for k, v in arguments.items() if k not in names}


# What is quick to compile, and of every kind.
SMALL = {
    "albert": Family("AlbertForMaskedLM", guessed, **BERT, embedding_size=8),
    "bart": Family("BartForConditionalGeneration", translated, **BART),
    "bert": Family("BertForMaskedLM", guessed, **BERT),
    "bert_pretraining": Family(
        "BertForPreTraining", lambda: dict(
            guessed(), next_sentence_label=torch.tensor([0, 1])), **BERT),
    "clip": Family(
        "CLIPModel", pictured, text_config=dict(BERT, eos_token_id=2),
        vision_config=VIT, projection_dim=8),
    "deberta": Family(
        "DebertaForMaskedLM", guessed, **BERT, relative_attention=True,
        pos_att_type=["c2p", "p2c"]),
    "funnel": Family(
        "FunnelForMaskedLM", guessed, vocab_size=WORDS, block_sizes=[1, 1],
        num_decoder_layers=1, d_model=16, n_head=2, d_head=8, d_inner=24),
    "gpt2": Family("GPT2LMHeadModel", continued, **GPT),
    "longformer": Family(
        "LongformerForMaskedLM", lambda: plain(8), **BERT, attention_window=4),
    "opt": Family(
        "OPTForCausalLM", continued, **without(BERT, "intermediate_size"),
        ffn_dim=24, word_embed_proj_dim=16),
    "t5": Family("T5ForConditionalGeneration", translated, **T5),
    "vit": Family("ViTForImageClassification", seen, **VIT),
    "wav2vec2": Family("Wav2Vec2ForSequenceClassification", heard, **SPEECH),
    "whisper": Family(
        "WhisperForConditionalGeneration", spoken(8, 40),
        **without(BART, "max_position_embeddings"), num_mel_bins=8,
        max_source_positions=20, max_target_positions=16, bos_token_id=1,
        eos_token_id=2, suppress_tokens=None, begin_suppress_tokens=None),
    "xlnet": Family(
        "XLNetLMHeadModel", plain, vocab_size=WORDS, d_model=16, n_layer=2,
        n_head=2, d_inner=24),
}  # fmt: skip

OTHERS = {
    "beit": Family(
        "BeitForImageClassification", seen, **VIT, use_mask_token=False,
        use_relative_position_bias=True),
    "bert_answers": Family("BertForQuestionAnswering", answered, **BERT),
    "bigbird": Family(
        "BigBirdForMaskedLM", guessed, **BERT, attention_type="original_full"),
    "bigbird_sparse": Family(
        "BigBirdForMaskedLM", lambda: plain(32), **dict(
            BERT, max_position_embeddings=64), block_size=2,
        num_random_blocks=1),
    "bigbird_pegasus": Family(
        "BigBirdPegasusForConditionalGeneration", translated, **BART),
    "blenderbot": Family(
        "BlenderbotForConditionalGeneration", translated, **BART),
    "blenderbot_small": Family(
        "BlenderbotSmallForConditionalGeneration", translated, **BART),
    "bloom": Family(
        "BloomForCausalLM", continued, vocab_size=WORDS, hidden_size=16,
        n_layer=2, n_head=2),
    "canine": Family(
        "CanineForSequenceClassification", lambda: dict(
            input_ids=words(16), labels=torch.tensor([1, 0])),
        **dict(without(BERT, "vocab_size"), max_position_embeddings=64),
        downsampling_rate=4, num_hash_buckets=50, local_transformer_stride=4),
    "codegen": Family(
        "CodeGenForCausalLM", continued, **dict(GPT, n_head=4), rotary_dim=2),
    "convbert": Family(
        "ConvBertForMaskedLM", guessed, **dict(BERT, num_attention_heads=4),
        embedding_size=16, conv_kernel_size=3, head_ratio=2),
    "convnext": Family("ConvNextForImageClassification", seen, **STAGES),
    "ctrl": Family("CTRLLMHeadModel", continued, **GPT, dff=24),
    "data2vec_audio": Family(
        "Data2VecAudioForSequenceClassification", heard, **SPEECH),
    "data2vec_text": Family("Data2VecTextForMaskedLM", guessed, **BERT),
    "data2vec_vision": Family(
        "Data2VecVisionForImageClassification", seen, **VIT),
    "deberta_v2": Family(
        "DebertaV2ForSequenceClassification", classified, **BERT,
        relative_attention=True, pos_att_type=["c2p", "p2c"],
        problem_type="single_label_classification"),
    "deit": Family("DeiTForImageClassification", seen, **VIT),
    "distilbert": Family(
        "DistilBertForMaskedLM", guessed, vocab_size=WORDS, dim=16,
        n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=32),
    "dpt": Family(
        "DPTForSemanticSegmentation", segmented,
        **dict(VIT, num_hidden_layers=4), backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8, num_labels=3),
    "electra": Family(
        "ElectraForPreTraining", tagged, **BERT, embedding_size=8),
    "ernie": Family("ErnieForMaskedLM", guessed, **BERT),
    "gpt_neo": Family(
        "GPTNeoForCausalLM", continued, vocab_size=WORDS, hidden_size=16,
        num_layers=2, num_heads=2, intermediate_size=24, window_size=4,
        attention_types=[[["global", "local"], 1]],
        max_position_embeddings=32),
    "gpt_neox": Family("GPTNeoXForCausalLM", continued, **BERT),
    "gptj": Family("GPTJForCausalLM", continued, **GPT, rotary_dim=4),
    "hubert": Family("HubertForSequenceClassification", heard, **SPEECH),
    "imagegpt": Family(
        "ImageGPTForImageClassification", lambda: dict(
            input_ids=words(), labels=torch.tensor([1, 0])), **GPT),
    "layoutlm": Family(
        "LayoutLMForMaskedLM", placed, **BERT, max_2d_position_embeddings=128),
    "led": Family(
        "LEDForConditionalGeneration", lambda: dict(
            plain(8), decoder_input_ids=words(8)),
        **without(BART, "max_position_embeddings"), attention_window=4,
        max_encoder_position_embeddings=32, max_decoder_position_embeddings=32),
    "levit": Family(
        "LevitForImageClassification", lambda: seen(64), image_size=64,
        hidden_sizes=[16, 24, 32], num_attention_heads=[2, 2, 2],
        depths=[1, 1, 1], key_dim=[4, 4, 4], num_labels=3),
    "longt5": Family(
        "LongT5ForConditionalGeneration", translated, **T5, local_radius=3),
    "luke": Family(
        "LukeForSequenceClassification", classified, **BERT,
        entity_vocab_size=20, entity_emb_size=8,
        problem_type="single_label_classification"),
    "m2m_100": Family("M2M100ForConditionalGeneration", translated, **BART),
    "marian": Family("MarianMTModel", translated, **BART),
    "mbart": Family("MBartForConditionalGeneration", translated, **BART),
    "megatron_bert": Family("MegatronBertForMaskedLM", guessed, **BERT),
    "mobilebert": Family(
        "MobileBertForMaskedLM", guessed, **BERT, embedding_size=12,
        intra_bottleneck_size=16),
    "mobilenet_v1": Family(
        "MobileNetV1ForImageClassification", seen, depth_multiplier=0.25,
        image_size=32, num_labels=3),
    "mobilenet_v2": Family(
        "MobileNetV2ForImageClassification", seen, depth_multiplier=0.25,
        image_size=32, num_labels=3),
    "mobilevit": Family(
        "MobileViTForImageClassification", lambda: seen(64), image_size=64,
        hidden_sizes=[16, 24, 32], num_attention_heads=2, num_labels=3,
        neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 16]),
    "mpnet": Family("MPNetForMaskedLM", guessed, **BERT),
    "mt5": Family("MT5ForConditionalGeneration", translated, **T5),
    "mvp": Family("MvpForConditionalGeneration", translated, **BART),
    "nezha": Family(
        "NezhaForMaskedLM", guessed, **BERT, max_relative_position=8),
    "nystromformer": Family(
        "NystromformerForMaskedLM", guessed, **BERT, num_landmarks=5,
        segment_means_seq_len=LENGTH),
    "openai_gpt": Family("OpenAIGPTLMHeadModel", continued, **GPT),
    "pegasus": Family("PegasusForConditionalGeneration", translated, **BART),
    "perceiver": Family(
        "PerceiverForMaskedLM", lambda: dict(inputs=words(), labels=words()),
        vocab_size=WORDS, num_latents=5, d_latents=16, d_model=16,
        num_blocks=1, num_self_attends_per_block=2, num_self_attention_heads=2,
        num_cross_attention_heads=2, max_position_embeddings=LENGTH),
    "plbart": Family("PLBartForConditionalGeneration", translated, **BART),
    "poolformer": Family("PoolFormerForImageClassification", seen, **STAGES),
    "prophetnet": Family(
        "ProphetNetForConditionalGeneration", translated, vocab_size=WORDS,
        hidden_size=16, num_encoder_layers=2, num_decoder_layers=2,
        num_encoder_attention_heads=2, num_decoder_attention_heads=2,
        encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=32),
    "regnet": Family(
        "RegNetForImageClassification", seen, **STAGES, embedding_size=8,
        groups_width=4),
    "rembert": Family(
        "RemBertForMaskedLM", guessed, **BERT, input_embedding_size=16,
        output_embedding_size=24),
    "resnet": Family(
        "ResNetForImageClassification", seen, **STAGES, embedding_size=8),
    "roberta": Family(
        "RobertaForSequenceClassification", classified, **BERT,
        problem_type="single_label_classification"),
    "roformer": Family(
        "RoFormerForMaskedLM", guessed, **BERT, embedding_size=16),
    "segformer": Family(
        "SegformerForSemanticSegmentation", segmented, **SEGFORMER,
        decoder_hidden_size=8),
    "segformer_classes": Family(
        "SegformerForImageClassification", seen, **SEGFORMER),
    "sew": Family(
        "SEWForSequenceClassification", heard, **SPEECH, squeeze_factor=2),
    "speech_to_text": Family(
        "Speech2TextForConditionalGeneration", spoken(40, 8),
        **without(BART, "max_position_embeddings"), input_feat_per_channel=8,
        input_channels=1, conv_channels=16, max_source_positions=40,
        max_target_positions=16),
    "squeezebert": Family(
        "SqueezeBertForMaskedLM", guessed, **BERT, embedding_size=16,
        q_groups=2, k_groups=2, v_groups=2, intermediate_groups=2,
        output_groups=2),
    "swin": Family("SwinForImageClassification", seen, **SWIN),
    "swin_v2": Family("Swinv2ForImageClassification", seen, **SWIN),
    "trocr": Family(
        "TrOCRForCausalLM", continued, vocab_size=WORDS, d_model=16,
        decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=24,
        max_position_embeddings=32),
    "unispeech": Family(
        "UniSpeechForSequenceClassification", heard, **SPEECH),
    "unispeech_sat": Family(
        "UniSpeechSatForSequenceClassification", heard, **SPEECH),
    "van": Family("VanForImageClassification", seen, **STAGES),
    "vilt": Family(
        "ViltForQuestionAnswering", lambda: dict(
            text(), pixel_values=image(), labels=torch.rand(ROWS, 2)),
        **dict(BERT, **without(VIT, *BERT)), modality_type_vocab_size=2),
    "visual_bert": Family(
        "VisualBertForPreTraining", lambda: dict(
            text(), visual_embeds=torch.randn(ROWS, 3, 12),
            visual_attention_mask=torch.ones(ROWS, 3),
            visual_token_type_ids=torch.ones(ROWS, 3, dtype=torch.long),
            labels=words(LENGTH + 3)), **BERT, visual_embedding_dim=12),
    "wavlm": Family("WavLMForSequenceClassification", heard, **SPEECH),
    "xglm": Family(
        "XGLMForCausalLM", continued, vocab_size=WORDS, d_model=16,
        num_layers=2, attention_heads=2, ffn_dim=24,
        max_position_embeddings=32),
    "xlm_roberta": Family(
        "XLMRobertaForTokenClassification", tagged, **BERT),
    "yoso": Family("YosoForMaskedLM", guessed, **BERT, use_expectation=True),
}  # fmt: skip
