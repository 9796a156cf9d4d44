package understudy.app.vllm;

import java.util.List;
import understudy.app.flags.FlagArguments;
import understudy.app.flags.FlagTable;
import understudy.settings.ScenarioException;

/**
 * Table of the flags of {@code vllm serve}: those of {@code AsyncEngineArgs} and {@code FrontendArgs}, of earlier and of later
 * versions. Others are unknown, and end the start, as do those that only other versions than {@code engine.version} have.
 */
final class VllmFlags {
    /** All flags; names, kind, and the setting, or * and what it does, or - for no effect. */
    static final FlagTable TABLE = new FlagTable("vllm serve", FlagTable.Spelling.OF_VLLM, VllmSizes::plain, """
        model                            text    * the model, also without the flag
        served-model-name                list    * server.served-model-name
        host                             text    server.host
        port                             size    server.port
        api-key                          list    * server.api-key, the first of them
        config                           text    * more flags, from a YAML file
        max-model-len                    size    engine.max-model-len
        max-num-seqs                     size    engine.max-num-seqs
        max-num-batched-tokens           size    engine.max-num-batched-tokens
        long-prefill-token-threshold     size    engine.long-prefill-token-threshold
        long-prefill-token-threshold-adaptive switch  engine.long-prefill-token-threshold-adaptive
        max-num-active-seqs              size    engine.max-num-active-seqs
        max-num-queued-reqs              size    server.max-num-queued-reqs
        max-num-queued-tokens            size    server.max-num-queued-tokens
        enable-chunked-prefill           switch  engine.enable-chunked-prefill
        scheduling-policy                text    engine.scheduling-policy
        async-scheduling                 switch  engine.async-scheduling
        disable-hybrid-kv-cache-manager  switch  engine.disable-hybrid-kv-cache-manager
        compilation-config,cc            json    * engine.cudagraph-mode, engine.cudagraph-capture-sizes
        enforce-eager                    switch  * engine.cudagraph-mode = none
        cudagraph-capture-sizes          list    * engine.cudagraph-capture-sizes
        max-cudagraph-capture-size       size    engine.max-cudagraph-capture-size
        speculative-config,sc            json    * engine.speculative
        enable-lora                      switch  engine.lora.enable
        max-loras                        size    engine.lora.max-loras
        max-cpu-loras                    size    engine.lora.max-cpu-loras
        max-lora-rank                    size    engine.lora.max-lora-rank
        specialize-active-lora           switch  engine.lora.specialize-active-lora
        lora-modules                     list    * engine.lora.lora-modules
        block-size                       size    kv-cache.block-size
        num-gpu-blocks-override          size    kv-cache.num-gpu-blocks
        gpu-memory-utilization           text    kv-cache.gpu-memory-utilization
        kv-cache-dtype                   text    * kv-cache.kv-cache-dtype
        enable-prefix-caching            switch  kv-cache.enable-prefix-caching
        prefix-caching-hash-algo         text    * kv-cache.hash-algo
        kv-offloading-size               text    kv-cache.tiers.host.gib
        kv-transfer-config               json    * kv-cache.transfer, for NixlConnector
        kv-events-config                 json    * kv-cache.kv-events
        tensor-parallel-size,tp          size    latency.tensor-parallel-size
        pipeline-parallel-size,pp        size    latency.pipeline-parallel-size
        data-parallel-size,dp            size    * cluster.replicas, latency.data-parallel-size
        enable-expert-parallel,ep        switch  latency.enable-expert-parallel
        all2all-backend                  text    * latency.all2all-backend
        dtype                            text    * latency.dtype, for float32
        quantization,q                   text    * latency.dtype
        seed                             text    seed
        shutdown-timeout                 seconds server.drain-timeout
        ssl-certfile                     text    server.tls-certfile
        ssl-keyfile                      text    server.tls-keyfile
        root-path                        text    server.root-path
        uds                              text    server.uds
        headless                         switch  * a worker without HTTP, until it is ended
        show-hidden-metrics-for-version  text    * server.metrics.legacy-names
        spec-method                      text    * method of --speculative-config
        spec-model                       text    * model of --speculative-config
        spec-tokens                      size    * num_speculative_tokens of --speculative-config
        enable-scale-out                 switch  * server.absent-endpoints = []
        enable-ssl-refresh               switch  * certificates are read again when they change, always
        chat-template                    text    * server.chat-template, if the file is there
        skip-tokenizer-init              switch  * the tokenizer of the model's folder is not read
        tokenizer                        text    * server.tokenizer, if it is a folder or file that is there
        additional-config                json    -
        aggregate-engine-logging         switch  -
        allow-credentials                switch  -
        allow-deprecated-quantization    switch  -
        allowed-headers                  json    -
        allowed-local-media-path         text    -
        allowed-media-domains            list    -
        allowed-methods                  json    -
        allowed-origins                  json    -
        api-server-count,asc             size    -
        attention-backend                text    -
        attention-config,ac              json    -
        calculate-kv-scales              switch  -
        chat-template-content-format     text    -
        code-revision                    text    -
        collect-detailed-traces          list    -
        config-format                    text    -
        convert                          text    * server.task
        cp-kv-cache-interleave-size      size    -
        cpu-distributed-timeout-seconds  size    -
        cpu-offload-gb                   text    -
        cpu-offload-params               list    -
        cuda-graph-sizes                 list    -
        cudagraph-metrics                switch  -
        data-parallel-address,dpa        text    -
        data-parallel-backend,dpb        text    -
        data-parallel-external-lb,dpe    switch  -
        data-parallel-hybrid-lb,dph      switch  -
        data-parallel-multi-port-external-lb,dpm switch  -
        data-parallel-rank,dpn           size    -
        data-parallel-rpc-port,dpp       size    -
        data-parallel-size-local,dpl     size    -
        data-parallel-start-rank,dpr     size    -
        dbo-decode-token-threshold       size    -
        dbo-prefill-token-threshold      size    -
        dcp-comm-backend                 text    -
        dcp-kv-cache-interleave-size     size    -
        dcp-q-replicate                  switch  -
        decode-context-parallel-size,dcp size    -
        decode-prefill-max-wait-ms       size    -
        decode-prefill-min-decode-steps  size    -
        default-chat-template-kwargs     json    -
        default-mm-loras                 json    -
        device                           text    -
        device-ids                       text    -
        diffusion-config,dc              json    -
        disable-access-log-for-endpoints text    server.access-log-except
        disable-async-output-proc        switch  -
        disable-cascade-attn             switch  -
        disable-chunked-mm-input         switch  -
        disable-custom-all-reduce        switch  -
        disable-fastapi-docs             switch  * server.docs = false
        disable-frontend-multiprocessing switch  -
        disable-log-deltas               switch  -
        disable-log-requests             switch  -
        disable-log-stats                switch  -
        disable-mm-preprocessor-cache    switch  -
        disable-mm-processor-cache       switch  -
        disable-nccl-for-dp-synchronization switch  -
        disable-sliding-window           switch  -
        disable-uvicorn-access-log       switch  * server.access-log = false
        distributed-executor-backend     text    -
        distributed-init-method          text    -
        distributed-timeout-seconds      size    -
        download-dir                     text    -
        ec-manager-config                json    -
        ec-transfer-config               json    -
        enable-auto-tool-choice          switch  -
        enable-batch-sharded-sampling    switch  -
        enable-bf16x3-router-gemm        switch  -
        enable-cumem-allocator           switch  -
        enable-dbo                       switch  -
        enable-elastic-ep                switch  -
        enable-ep-weight-filter          switch  -
        enable-eplb                      switch  -
        enable-fault-tolerance           switch  -
        enable-flashinfer-autotune       switch  -
        enable-force-include-usage       switch  -
        enable-layerwise-nvtx-tracing    switch  -
        enable-log-deltas                switch  -
        enable-log-outputs               switch  -
        enable-log-requests              switch  -
        enable-logging-iteration-details switch  -
        enable-mamba-cache-stochastic-rounding switch  -
        enable-mamba-fine-grained-prefix-cache switch  -
        enable-mamba-shared-prefix-checkpoint switch  -
        enable-mfu-metrics               switch  -
        enable-mixed-moe-lora-format     switch  -
        enable-mm-embeds                 switch  -
        enable-mm-processor-cache        switch  -
        enable-mm-processor-stats        switch  -
        enable-moe-shared-loras          switch  -
        enable-multimodal-encoder-data-parallel switch  -
        enable-offline-docs              switch  -
        enable-prompt-adapter            switch  -
        enable-prompt-embeds             switch  -
        enable-prompt-tokens-details     switch  -
        enable-reasoning                 switch  -
        enable-request-id-headers        switch  -
        enable-return-routed-experts     switch  -
        enable-server-load-tracking      switch  -
        enable-sleep-mode                switch  -
        enable-tokenizer-info-endpoint   switch  -
        enable-tower-connector-lora      switch  -
        enable-trace-replay              switch  -
        engine-use-ray                   switch  -
        eplb-config                      json    -
        exclude-tools-when-tool-choice-none switch  -
        expert-placement-strategy        text    -
        fail-on-environ-validation       switch  -
        fault-tolerance-config           json    -
        fully-sharded-loras              switch  -
        gdn-decode-kernel                text    -
        gdn-prefill-backend              text    -
        generation-config                text    -
        guided-decoding-backend          text    -
        guided-decoding-disable-additional-properties switch  -
        guided-decoding-disable-any-whitespace switch  -
        guided-decoding-disable-fallback switch  -
        h11-max-header-count             size    -
        h11-max-incomplete-event-size    size    -
        hf-config-path                   text    -
        hf-overrides                     json    -
        hf-token                         list    -
        ignore-patterns                  list    -
        interleave-mm-strings            switch  -
        io-processor-plugin              text    -
        ir-op-priority                   json    -
        jit-monitor-mode                 text    -
        jit-monitor-verbose              switch  -
        kda-prefill-backend              text    -
        kernel-config                    json    -
        kv-cache-dtype-skip-layers       list    -
        kv-cache-memory-bytes            size    -
        kv-cache-metrics                 switch  -
        kv-cache-metrics-sample          text    -
        kv-cache-quantization            text    -
        kv-offloading-backend            text    -
        kv-sharing-fast-prefill          switch  -
        language-model-only              switch  * server.multimodal.limit-mm-per-prompt, none of each
        limit-mm-per-prompt              json    * server.multimodal.limit-mm-per-prompt
        linear-backend                   text    -
        load-format                      text    -
        log-config-file                  text    -
        log-error-stack                  switch  -
        logits-processor-pattern         text    -
        logits-processors                list    -
        logprobs-mode                    text    -
        long-lora-scaling-factors        list    -
        lora-dtype                       text    -
        lora-extra-vocab-size            size    -
        lora-target-modules              list    -
        mamba-backend                    text    -
        mamba-block-size                 size    -
        mamba-cache-dtype                text    -
        mamba-cache-mode                 text    -
        mamba-cache-philox-rounds        size    -
        mamba-config                     json    -
        mamba-ssm-cache-dtype            text    kv-cache.mamba-ssm-cache-dtype
        mamba-ssu-algorithm              text    -
        master-addr                      text    -
        master-port                      size    -
        max-context-len-to-capture       size    -
        max-log-len                      size    -
        max-logprobs                     size    -
        max-long-partial-prefills        size    -
        max-num-partial-prefills         size    -
        max-num-prefill-tokens-per-step  size    -
        max-num-scheduled-tokens         size    -
        max-parallel-loading-workers     size    -
        max-prompt-adapter-token         size    -
        max-prompt-adapters              size    -
        max-seq-len-to-capture           size    -
        media-io-kwargs                  json    -
        middleware                       text    -
        mm-device-do-normalize           switch  -
        mm-encoder-attn-backend          text    -
        mm-encoder-attn-dtype            text    -
        mm-encoder-fp8-scale-path        text    -
        mm-encoder-fp8-scale-save-margin text    -
        mm-encoder-fp8-scale-save-path   text    -
        mm-encoder-only                  switch  -
        mm-encoder-tp-mode               text    -
        mm-hasher-algorithm              text    -
        mm-ipc-gpu-memory-gb             text    -
        mm-processor-cache-gb            text    -
        mm-processor-cache-type          text    -
        mm-processor-device              text    -
        mm-processor-kwargs              json    * server.multimodal.min-pixels and max-pixels
        mm-shm-cache-max-object-size-mb  size    -
        mm-tensor-ipc                    text    -
        model-class-overrides            json    -
        model-impl                       text    -
        model-loader-extra-config        json    -
        moe-backend                      text    * latency.moe-backend
        multi-step-stream-outputs        switch  -
        ngram-prompt-lookup-max          size    -
        ngram-prompt-lookup-min          size    -
        nnodes,n                         size    -
        node-rank,r                      size    -
        num-lookahead-slots              size    -
        num-scheduler-steps              size    -
        num-speculative-tokens           size    -
        numa-bind                        switch  -
        numa-bind-cpus                   list    -
        numa-bind-nodes                  list    -
        offload-backend                  text    -
        offload-group-size               size    -
        offload-num-in-group             size    -
        offload-params                   list    -
        offload-prefetch-step            size    -
        omni                             switch  -
        optimization-level,O             text    -
        otlp-traces-endpoint             text    -
        override-attention-dtype         text    -
        override-generation-config       json    -
        override-neuron-config           json    -
        override-pooler-config           json    -
        per-request-spec-decode-metrics  text    -
        performance-mode                 text    engine.performance-mode
        pooler-config                    json    -
        preemption-mode                  text    -
        prefill-context-parallel-size,pcp size    -
        prefill-schedule-interval        size    engine.prefill-schedule-interval
        prefix-cache-retention-interval  size    -
        prefix-match-unit                size    -
        profiler-config                  json    -
        prompt-adapters                  list    -
        pt-load-map-location             text    -
        qlora-adapter-name-or-path       text    -
        quantization-config              json    -
        quantization-param-path          text    -
        ray-workers-use-nsight           switch  -
        reasoning-config                 json    -
        reasoning-parser                 text    -
        reasoning-parser-plugin          text    -
        renderer-num-workers             size    -
        replayssm-buffer-len             size    -
        response-role                    text    -
        return-sampling-mask             switch  -
        return-tokens-as-token-ids       switch  -
        revision                         text    -
        rope-scaling                     json    -
        rope-theta                       text    -
        runner                           text    * server.task
        safetensors-load-strategy        text    -
        safetensors-prefetch-block-size  size    -
        safetensors-prefetch-num-threads size    -
        scheduler-cls                    text    -
        scheduler-delay-factor           text    -
        scheduler-reserve-full-isl       switch  engine.scheduler-reserve-full-isl
        skip-mm-profiling                switch  -
        speculative-draft-tensor-parallel-size size    -
        speculative-max-model-len        size    -
        speculative-model                text    -
        speculative-model-quantization   text    -
        ssl-ca-certs                     text    -
        ssl-cert-reqs                    text    -
        ssl-ciphers                      text    -
        stream-interval                  size    -
        structured-outputs-config        json    -
        swap-space                       text    -
        task                             text    * server.task
        tokenizer-mode                   text    -
        tokenizer-pool-extra-config      json    -
        tokenizer-pool-size              size    -
        tokenizer-pool-type              text    -
        tokenizer-revision               text    -
        tokens-only                      switch  -
        tool-call-parser                 text    -
        tool-call-parser-plugin          text    -
        tool-parser-plugin               text    -
        tool-server                      text    -
        trust-remote-code                switch  -
        trust-request-chat-template      switch  -
        typical-acceptance-sampler-posterior-alpha text    -
        typical-acceptance-sampler-posterior-threshold text    -
        ubatch-size                      size    -
        use-fp64-gumbel                  switch  -
        use-replayssm                    switch  -
        use-tqdm-on-load                 switch  -
        use-v2-block-manager             switch  -
        uvicorn-log-level                text    * server.access-log = false above info
        video-pruning-method             text    -
        video-pruning-rate               text    -
        watermark                        text    engine.watermark
        weight-transfer-config           json    -
        worker-cls                       text    -
        worker-extension-cls             text    -
        worker-use-ray                   switch  -
        """);

    private static final String OMNI = "--omni";

    private VllmFlags() {}

    /**
     * Takes words apart as vLLM's {@code FlexibleArgumentParser} does. With {@code --omni} an unknown flag is taken for one
     * of vLLM-Omni, which has more, and passed over with a warning, together with the words up to the next flag.
     *
     * @throws ScenarioException if a flag is unknown or lacks its value, or a value is of the wrong kind
     */
    static FlagArguments parse(List<String> words) {
        // Only -O may have its value at once behind it.
        var spelled = words.stream()
                .map(word -> word.replaceFirst("^\\s*-O(?=[0-9])", "-O="))
                .toList();
        return FlagArguments.parse(TABLE, spelled, words.contains(OMNI) ? "vLLM-Omni" : "");
    }

    /** Returns the model: the word without a flag, or {@code --model}. */
    static String model(FlagArguments arguments, String other) {
        return arguments.positional().or(() -> arguments.last("model")).orElse(other);
    }
}
