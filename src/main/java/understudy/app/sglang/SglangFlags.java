package understudy.app.sglang;

import understudy.app.flags.FlagTable;

/**
 * Flags of SGLang's server: those of its page on server arguments (2026), which {@code python -m sglang.launch_server} and
 * {@code sglang serve} have alike, read by Python's own parser.
 */
final class SglangFlags {
    /** All flags; names, kind, and the setting, or * and what it does, or - for no effect. */
    static final FlagTable TABLE =
            new FlagTable("launch_server.py", FlagTable.Spelling.OF_ARGPARSE, (flag, text) -> text, """
        model-path,model                text    * the model
        served-model-name               text    server.served-model-name
        host                            text    server.host
        port                            text    server.port
        config                          text    * more flags, from a YAML file
        api-key                         text    server.api-key
        fastapi-root-path               text    server.root-path
        context-length                  text    engine.max-model-len
        mem-fraction-static             text    engine.sglang.mem-fraction-static
        max-total-tokens                text    engine.sglang.max-total-tokens
        max-running-requests            text    engine.sglang.max-running-requests
        max-queued-requests             text    engine.sglang.max-queued-requests
        chunked-prefill-size            text    engine.sglang.chunked-prefill-size
        max-prefill-tokens              text    engine.sglang.max-prefill-tokens
        prefill-max-requests            text    engine.sglang.prefill-max-requests
        schedule-policy                 text    engine.sglang.schedule-policy
        schedule-conservativeness       text    engine.sglang.schedule-conservativeness
        enable-mixed-chunk              on      engine.sglang.enable-mixed-chunk
        disable-overlap-schedule        on      engine.sglang.disable-overlap-schedule
        enable-priority-scheduling      on      engine.sglang.enable-priority-scheduling
        schedule-low-priority-values-first on   engine.sglang.schedule-low-priority-values-first
        disable-priority-preemption     on      engine.sglang.disable-priority-preemption
        priority-scheduling-preemption-threshold text engine.sglang.priority-scheduling-preemption-threshold
        retraction-policy               text    engine.sglang.retraction-policy
        page-size                       text    engine.sglang.page-size
        disable-radix-cache             on      engine.sglang.disable-radix-cache
        radix-eviction-policy           text    engine.sglang.radix-eviction-policy
        disable-hybrid-swa-memory       on      engine.sglang.disable-hybrid-swa-memory
        swa-full-tokens-ratio           text    engine.sglang.swa-full-tokens-ratio
        enable-hierarchical-cache       on      engine.sglang.enable-hierarchical-cache
        hicache-ratio                   text    engine.sglang.hicache-ratio
        hicache-size                    text    engine.sglang.hicache-size
        hicache-write-policy            text    * engine.sglang.hicache-write-policy
        hicache-storage-backend         text    * engine.sglang.hicache-storage-backend
        hicache-storage-prefetch-policy text    * engine.sglang.hicache-storage-prefetch-policy
        hicache-storage-backend-extra-config json * engine.sglang.prefetch-threshold, prefetch-timeout-...
        speculative-algorithm           text    * engine.sglang.speculative-algorithm
        speculative-num-steps           text    engine.sglang.speculative-num-steps
        speculative-eagle-topk          text    engine.sglang.speculative-eagle-topk
        speculative-num-draft-tokens    text    engine.sglang.speculative-num-draft-tokens
        cuda-graph-max-bs               text    engine.sglang.cuda-graph-max-bs
        disable-cuda-graph              on      engine.sglang.disable-cuda-graph
        disable-shared-experts-fusion   on      engine.sglang.disable-shared-experts-fusion
        enable-prefill-delayer          on      engine.sglang.enable-prefill-delayer
        prefill-delayer-token-usage-low-watermark text engine.sglang.prefill-delayer-token-usage-low-watermark
        prefill-delayer-queue-min-ratio text    engine.sglang.prefill-delayer-queue-min-ratio
        prefill-delayer-max-delay-ms    text    engine.sglang.prefill-delayer-max-delay-ms
        prefill-delayer-max-delay-passes text   engine.sglang.prefill-delayer-max-delay-passes
        prefill-decode-interval         text    engine.sglang.prefill-decode-interval
        enable-lora                     on      engine.sglang.enable-lora
        lora-paths                      list    * engine.sglang.lora-paths
        max-loras-per-batch             text    engine.sglang.max-loras-per-batch
        enable-metrics                  on      server.sglang.enable-metrics
        enable-cache-report             on      server.sglang.enable-cache-report
        admin-api-key                   text    server.sglang.admin-api-key
        random-seed                     text    engine.sglang.random-seed
        kv-cache-dtype                  text    * kv-cache.kv-cache-dtype
        kv-events-config                json    * kv-cache.kv-events
        disaggregation-mode             text    * cluster.groups: one with the role, and kv-cache.transfer.kv-connector
        disaggregation-bootstrap-port   text    * server.side-channel-port; of a decode the one to ask at
        disaggregation-decode-polling-interval text engine.sglang.disaggregation-decode-polling-interval
        num-reserved-decode-tokens      text    engine.sglang.num-reserved-decode-tokens
        tp-size,tensor-parallel-size    text    latency.tensor-parallel-size
        pp-size,pipeline-parallel-size  text    latency.pipeline-parallel-size
        dp-size,data-parallel-size      text    * cluster.replicas
        enable-dp-attention             on      * latency.data-parallel-size, and one GPU in dp-size for attention
        load-balance-method             text    * router.policy
        ep-size,expert-parallel-size,ep text    * latency.enable-expert-parallel
        dtype                           text    * latency.dtype, for float32
        quantization                    text    * latency.dtype
        tokenizer-path                  text    * server.tokenizer, if it is a folder or file that is there
        skip-tokenizer-init             on      * the tokenizer of the model's folder is not read
        chat-template                   text    * server.chat-template, if the file is there
        ssl-certfile                    text    server.tls-certfile
        ssl-keyfile                     text    server.tls-keyfile
        log-level                       text    * server.access-log = false above info
        log-level-http                  text    * server.access-log = false above info
        node-rank                       text    * above 0 a worker without HTTP, until it is ended
        is-embedding                    on      * server.task = embed
        abort-on-priority-when-disabled on -
        allow-auto-truncate on -
        attention-backend text -
        attn-cp-size,attention-context-parallel-size text -
        base-gpu-id text -
        bucket-e2e-request-latency list -
        bucket-inter-token-latency list -
        bucket-time-to-first-token list -
        checkpoint-engine-wait-weights-before-ready on -
        collect-tokens-histogram on -
        completion-template text -
        constrained-json-disable-any-whitespace on -
        constrained-json-whitespace-pattern text -
        cpu-offload-gb text -
        crash-dump-folder text -
        cuda-graph-bs list -
        custom-weight-loader list -
        debug-tensor-dump-inject text -
        debug-tensor-dump-input-file text -
        debug-tensor-dump-layers text -
        debug-tensor-dump-output-folder text -
        decode-attention-backend text -
        decode-log-interval text -
        deepep-config text -
        deepep-dispatcher-output-dtype text -
        deepep-mode text -
        delete-ckpt-after-loading on -
        device text -
        disable-chunked-prefix-cache on -
        disable-cuda-graph-padding on -
        disable-custom-all-reduce on -
        disable-fast-image-processor on -
        disable-flashinfer-autotune on -
        disable-flashinfer-cutlass-moe-fp4-allgather on -
        disable-outlines-disk-cache on -
        disable-piecewise-cuda-graph on -
        disable-tokenizer-batch-decode on -
        disaggregation-decode-enable-offload-kvcache on -
        disaggregation-ib-device text -
        disaggregation-transfer-backend text -
        dist-init-addr,nccl-init-addr text -
        dist-timeout text -
        dllm-algorithm text -
        dllm-algorithm-config text -
        download-dir text -
        dsa-decode-backend,nsa-decode-backend text -
        dsa-prefill-backend,nsa-prefill-backend text -
        dsa-prefill-cp-mode text -
        dynamic-batch-tokenizer-batch-size text -
        dynamic-batch-tokenizer-batch-timeout text -
        elastic-ep-backend text -
        elastic-ep-rejoin on -
        enable-aiter-allreduce-fusion on -
        enable-attn-tp-input-scattered on -
        enable-cudagraph-gc on -
        enable-custom-logit-processor on -
        enable-deepep-waterfill on -
        enable-deterministic-inference on -
        enable-dp-lm-head on -
        enable-draft-weights-cpu-backup on -
        enable-dsa-prefill-context-parallel,enable-nsa-prefill-context-parallel on -
        enable-dynamic-batch-tokenizer on -
        enable-dynamic-chunking on -
        enable-elastic-expert-backup on -
        enable-eplb on -
        enable-expert-distribution-metrics on -
        enable-flashinfer-allreduce-fusion on -
        enable-fp32-lm-head on -
        enable-fused-grouped-gemm-combine on -
        enable-fused-qk-norm-rope on -
        enable-layerwise-nvtx-marker on -
        enable-lmcache on -
        enable-lora-overlap-loading on -
        enable-memory-saver on -
        enable-metrics-for-all-schedulers on -
        enable-mfu-metrics on -
        enable-mscclpp on -
        enable-multi-layer-eagle on -
        enable-multimodal on -
        enable-nan-detection on -
        enable-nccl-nvls on -
        enable-p2p-check on -
        enable-precise-embedding-interpolation on -
        enable-profile-cuda-graph on -
        enable-quant-communications on -
        enable-request-time-stats-logging on -
        enable-return-hidden-states on -
        enable-return-routed-experts on -
        enable-single-batch-overlap on -
        enable-ssl-refresh on -
        enable-symm-mem on -
        enable-tokenizer-batch-encode on -
        enable-torch-compile on -
        enable-torch-compile-debug-mode on -
        enable-torch-symm-mem on -
        enable-trace on -
        enable-two-batch-overlap on -
        enable-weights-cpu-backup on -
        encoder-only on -
        encoder-transfer-backend text -
        encoder-urls text -
        enforce-piecewise-cuda-graph on -
        ep-dispatch-algorithm text -
        ep-num-redundant-experts text -
        eplb-algorithm text -
        eplb-min-rebalancing-utilization-threshold text -
        eplb-rebalance-layers-per-chunk text -
        eplb-rebalance-num-iterations text -
        expert-distribution-recorder-buffer-size text -
        expert-distribution-recorder-mode text -
        export-metrics-to-file on -
        export-metrics-to-file-dir text -
        file-storage-path text -
        flashinfer-mla-disable-ragged on -
        flashinfer-mxfp4-moe-precision text -
        fp4-gemm-backend text -
        fp8-gemm-backend text -
        gc-warning-threshold-secs text -
        generation-tokens-buckets list -
        gpu-id-step text -
        grammar-backend text -
        grpc-mode on -
        hf-chat-template-name text -
        hicache-io-backend text -
        hicache-mem-layout text -
        hierarchical-sparse-attention-extra-config text -
        incremental-streaming-output on -
        init-expert-location text -
        json-model-override-args text -
        keep-mm-feature-on-device on -
        kt-cpuinfer text -
        kt-max-deferred-experts-per-token text -
        kt-method text -
        kt-num-gpu-experts text -
        kt-threadpool-count text -
        kt-weight-path text -
        language-only on -
        load-format text -
        log-requests on -
        log-requests-format text -
        log-requests-level text -
        log-requests-target list -
        lora-backend text -
        lora-drain-wait-threshold text -
        lora-eviction-policy text -
        lora-target-modules list -
        mamba-full-memory-ratio text -
        mamba-scheduler-strategy text -
        mamba-ssm-dtype text kv-cache.mamba-ssm-cache-dtype
        mamba-track-interval text -
        max-loaded-loras text -
        max-lora-chunk-size text -
        max-lora-rank text -
        max-mamba-cache-size text -
        mm-attention-backend text -
        model-checksum list -
        model-impl text -
        model-loader-extra-config text -
        modelopt-checkpoint-restore-path text -
        modelopt-checkpoint-save-path text -
        modelopt-export-path text -
        modelopt-quant text -
        moe-a2a-backend text -
        moe-dense-tp-size text -
        moe-dp-size,moe-data-parallel-size text -
        moe-runner-backend text -
        mooncake-ib-device text -
        multi-item-scoring-delimiter text -
        nccl-port text -
        nnodes text -
        num-continuous-decode-steps text -
        numa-node list -
        offload-group-size text -
        offload-mode text -
        offload-num-in-group text -
        offload-prefetch-step text -
        otlp-traces-endpoint text -
        piecewise-cuda-graph-compiler text -
        piecewise-cuda-graph-max-tokens text -
        piecewise-cuda-graph-tokens text -
        pp-async-batch-depth text -
        pp-max-micro-batch-size text -
        preferred-sampling-params text -
        prefill-attention-backend text -
        prefill-delayer-forward-passes-buckets list -
        prefill-delayer-wait-seconds-buckets list -
        prompt-tokens-buckets list -
        quantization-param-path text -
        quantize-and-serve on -
        reasoning-parser text -
        revision text -
        rl-on-policy-target text -
        rl-quant-profile text -
        sampling-backend text -
        sampling-defaults text -
        scheduler-recv-interval text -
        show-time-cost on -
        skip-server-warmup on -
        sleep-on-idle on -
        soft-watchdog-timeout text -
        speculative-accept-threshold-acc text -
        speculative-accept-threshold-single text -
        speculative-attention-mode text -
        speculative-draft-attention-backend text -
        speculative-draft-load-format text -
        speculative-draft-model-path,speculative-draft-model text -
        speculative-draft-model-quantization text -
        speculative-draft-model-revision text -
        speculative-moe-a2a-backend text -
        speculative-moe-runner-backend text -
        speculative-ngram-capacity text -
        speculative-ngram-match-type text -
        speculative-ngram-max-bfs-breadth text -
        speculative-ngram-max-trie-depth text -
        speculative-ngram-min-bfs-breadth text -
        speculative-token-map text -
        ssl-ca-certs text -
        stream-interval text -
        tbo-token-distribution-threshold text -
        tokenizer-metrics-allowed-custom-labels list -
        tokenizer-metrics-custom-labels-header text -
        tokenizer-mode text -
        tokenizer-worker-num text -
        tool-call-parser text -
        tool-server text -
        torch-compile-max-bs text -
        torchao-config text -
        triton-attention-num-kv-splits text -
        triton-attention-reduce-in-fp32 on -
        triton-attention-split-tile-size text -
        trust-remote-code on -
        uvicorn-access-log-exclude-prefixes list -
        warmups text -
        watchdog-timeout text -
        weight-version text -
        """);

    private SglangFlags() {}
}
