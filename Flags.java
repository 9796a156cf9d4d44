package understudy.app.vllm;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Flags of {@code vllm serve} (vLLM's {@code engine/arg_utils.py} and {@code entrypoints/openai/cli_args.py}). */
final class Flags {
    /** A flag in each line: its names, the kind of its values, and the setting that it becomes. */
    private static final String MAPPED = """
            host                                text          server.host
            port                                text          server.port
            served-model-name                   names         server.served-model-name
            api-key                             first         server.api-key
            shutdown-timeout                    seconds       server.drain-timeout
            model                               text          latency.llm
            dtype                               dtype         latency.dtype
            quantization,q                      quantization  latency.dtype
            tensor-parallel-size,tp             size          latency.tensor-parallel-size
            pipeline-parallel-size,pp           size          latency.pipeline-parallel-size
            data-parallel-size,dp               ranks         cluster.replicas
            data-parallel-size-local,dpl        ranks         cluster.replicas
            data-parallel-rank,dpn              ranks         cluster.replicas
            enable-expert-parallel,ep           switch        latency.enable-expert-parallel
            all2all-backend                     text          latency.all2all-backend
            max-model-len                       size          engine.max-model-len
            max-num-seqs                        size          engine.max-num-seqs
            max-num-batched-tokens              size          engine.max-num-batched-tokens
            long-prefill-token-threshold        size          engine.long-prefill-token-threshold
            enable-chunked-prefill              switch        engine.enable-chunked-prefill
            scheduling-policy                   text          engine.scheduling-policy
            scheduler-reserve-full-isl          switch        engine.scheduler-reserve-full-isl
            async-scheduling                    switch        engine.async-scheduling
            disable-hybrid-kv-cache-manager     switch        engine.disable-hybrid-kv-cache-manager
            speculative-config,sc               speculative   engine.speculative
            enable-lora                         switch        engine.lora.enable
            max-loras                           size          engine.lora.max-loras
            max-cpu-loras                       size          engine.lora.max-cpu-loras
            max-lora-rank                       size          engine.lora.max-lora-rank
            lora-modules                        lora-modules  engine.lora.lora-modules
            gpu-memory-utilization              text          kv-cache.gpu-memory-utilization
            block-size                          size          kv-cache.block-size
            num-gpu-blocks-override             size          kv-cache.num-gpu-blocks
            kv-cache-dtype                      kv-dtype      kv-cache.kv-cache-dtype
            enable-prefix-caching               switch        kv-cache.enable-prefix-caching
            prefix-caching-hash-algo            hash          kv-cache.hash-algo
            kv-events-config                    kv-events     kv-cache.kv-events
            kv-transfer-config                  kv-transfer   kv-cache.transfer
            kv-offloading-size                  text          kv-cache.tiers.host.gib
            seed                                text          seed
            """;

    /** The same for flags without an effect; behind the kind stands why, where a user would not expect that. */
    private static final String WITHOUT_EFFECT = """
            enforce-eager                       switch
            trust-remote-code                   switch
            swap-space                          text
            device                              text
            distributed-executor-backend        text
            load-format                         text
            download-dir                        text
            revision                            text
            code-revision                       text
            tokenizer                           text      server.tokenizer chooses the vocabulary
            tokenizer-mode                      text
            tokenizer-revision                  text
            skip-tokenizer-init                 switch
            config-format                       text
            hf-config-path                      text
            hf-token                            text
            hf-overrides                        text      the model's dimensions are those of its file
            rope-scaling                        text
            rope-theta                          text
            runner                              text
            task                                text      models generate text here
            convert                             text
            override-generation-config          text
            generation-config                   text
            model-impl                          text
            max-logprobs                        text
            logprobs-mode                       text
            max-seq-len-to-capture              text
            cuda-graph-sizes                    names
            compilation-config,cc               text
            optimization-level                  text
            attention-backend                   text
            attention-config,ac                 text
            kernel-config                       text
            moe-backend                         text
            disable-custom-all-reduce           switch
            disable-cascade-attn                switch
            disable-sliding-window              switch
            enable-dbo                          switch    steps are not split into microbatches
            enable-eplb                         switch    experts are equally loaded here
            eplb-config                         text
            num-redundant-experts               text
            decode-context-parallel-size,dcp    text      contexts are not spread over GPUs here
            prefill-context-parallel-size,pcp   text      contexts are not spread over GPUs here
            nnodes,n                            text      replicas of all machines are in this process
            node-rank,r                         text      replicas of all machines are in this process
            headless                            switch    it serves all the same
            master-addr                         text
            master-port                         text
            data-parallel-address,dpa           text
            data-parallel-rpc-port,dpp          text
            data-parallel-backend,dpb           text
            data-parallel-start-rank,dpr        text
            data-parallel-hybrid-lb,dph         switch
            data-parallel-external-lb,dpe       switch
            api-server-count,asc                text
            max-parallel-loading-workers        text
            ray-workers-use-nsight              switch
            worker-cls                          text
            worker-extension-cls                text
            additional-config                   text
            model-loader-extra-config           text
            ignore-patterns                     text
            use-tqdm-on-load                    switch
            cpu-offload-gb                      text      all weights are on the GPU here
            offload-backend                     text
            kv-offloading-backend               text
            kv-cache-memory-bytes               text      kv-cache.num-gpu-blocks sets the size of the cache
            kv-cache-metrics                    switch
            kv-sharing-fast-prefill             switch
            calculate-kv-scales                 switch
            mamba-cache-dtype                   text
            mamba-ssm-cache-dtype               text
            mamba-block-size                    text
            mamba-cache-mode                    text
            max-num-partial-prefills            text      one prompt at a time is cut here
            max-long-partial-prefills           text      one prompt at a time is cut here
            disable-chunked-mm-input            switch
            scheduler-cls                       text      engine.scheduling-policy chooses the order
            scheduling-steps                    text
            num-scheduler-steps                 text
            num-lookahead-slots                 text
            stream-interval                     text      each token is an event of its own
            performance-mode                    text
            enable-sleep-mode                   switch    there is no /sleep
            enable-prompt-embeds                switch
            limit-mm-per-prompt                 text      there are no images
            media-io-kwargs                     text
            mm-processor-kwargs                 text
            mm-processor-cache-gb               text
            mm-processor-cache-type             text
            mm-encoder-tp-mode                  text
            interleave-mm-strings               switch
            skip-mm-profiling                   switch
            language-model-only                 switch
            allowed-local-media-path            text
            allowed-media-domains               names
            fully-sharded-loras                 switch
            lora-dtype                          text
            lora-extra-vocab-size               text
            default-mm-loras                    text
            long-lora-scaling-factors           text
            enable-auto-tool-choice             switch
            tool-call-parser                    text
            tool-parser-plugin                  text
            tool-server                         text
            exclude-tools-when-tool-choice-none switch
            reasoning-parser                    text
            reasoning-parser-plugin             text
            reasoning-config                    text
            enable-reasoning                    switch
            guided-decoding-backend             text
            structured-outputs-config           text
            chat-template                       text
            chat-template-content-format        text
            default-chat-template-kwargs        text
            trust-request-chat-template         switch
            response-role                       text
            return-tokens-as-token-ids          switch
            enable-prompt-tokens-details        switch
            enable-server-load-tracking         switch
            enable-force-include-usage          switch    usage is sent to those who ask for it
            enable-tokenizer-info-endpoint      switch    there is no /tokenizer_info
            disable-frontend-multiprocessing    switch
            enable-request-id-headers           switch
            disable-log-requests                switch
            enable-log-requests                 switch
            enable-log-outputs                  switch
            disable-log-stats                   switch
            aggregate-engine-logging            switch
            max-log-len                         text
            log-config-file                     text
            log-error-stack                     switch
            uvicorn-log-level                   text
            disable-uvicorn-access-log          switch
            disable-access-log-for-endpoints    text
            disable-fastapi-docs                switch
            enable-offline-docs                 switch
            h11-max-incomplete-event-size       text
            h11-max-header-count                text
            middleware                          text
            allow-credentials                   switch
            allowed-origins                     text
            allowed-methods                     text
            allowed-headers                     text
            root-path                           text      paths begin at /
            uds                                 text      it listens at host and port
            ssl-certfile                        text      server.tls-keystore has the key and certificate
            ssl-keyfile                         text      server.tls-keystore has the key and certificate
            ssl-ca-certs                        text
            ssl-cert-reqs                       text
            ssl-ciphers                         text
            enable-ssl-refresh                  switch
            otlp-traces-endpoint                text      no traces are sent
            collect-detailed-traces             names     no traces are sent
            show-hidden-metrics-for-version     text
            profiler-config                     text
            enable-mfu-metrics                  switch
            enable-layerwise-nvtx-tracing       switch
            ec-transfer-config                  text      there are no encoders
            weight-transfer-config              text
            fail-on-environ-validation          switch
            shutdown-mode                       text
            """;

    /** All flags, in the order of the tables. */
    static final List<Flag> ALL = Stream.concat(rows(MAPPED, true), rows(WITHOUT_EFFECT, false))
            .toList();

    private static final Map<String, Flag> BY_NAME = ALL.stream()
            .flatMap(flag -> flag.names().stream().map(name -> Map.entry(name, flag)))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private Flags() {}

    private static Stream<Flag> rows(String table, boolean hasEffect) {
        return table.lines().map(line -> row(line.split(" +", 3), hasEffect));
    }

    private static Flag row(String[] cells, boolean hasEffect) {
        var kind = Flag.Kind.valueOf(cells[1].toUpperCase(Locale.ROOT).replace('-', '_'));
        return new Flag(List.of(cells[0].split(",")), kind, cells.length == 3 ? cells[2] : "", hasEffect);
    }

    /** Returns the flag of a name, long or short, without its hyphens; as in vLLM the beginning of one name will do. */
    static Optional<Flag> find(String name) {
        var flag = Optional.ofNullable(BY_NAME.get(name));
        return flag.or(() -> beginningWith(name));
    }

    private static Optional<Flag> beginningWith(String beginning) {
        var found = ALL.stream()
                .filter(flag -> beginning.length() > 2 && flag.name().startsWith(beginning))
                .toList();
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }
}
