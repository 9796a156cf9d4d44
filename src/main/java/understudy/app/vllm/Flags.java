package understudy.app.vllm;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Table of the flags of {@code vllm serve}: those of {@code AsyncEngineArgs} and {@code FrontendArgs} that deployments use.
 * Others are unknown, which a warning says.
 */
final class Flags {
    /** All flags; names, kind, and the setting, or * and what it does, or - for no effect. */
    static final List<Flag> ALL = read("""
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
            enable-chunked-prefill           switch  engine.enable-chunked-prefill
            scheduling-policy                text    engine.scheduling-policy
            async-scheduling                 switch  engine.async-scheduling
            disable-hybrid-kv-cache-manager  switch  engine.disable-hybrid-kv-cache-manager
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
            ssl-ca-certs                     text    -
            ssl-cert-reqs                    text    -
            enable-ssl-refresh               switch  * certificates are read again when they change, always
            allowed-origins                  json    -
            allowed-methods                  json    -
            allowed-headers                  json    -
            allow-credentials                switch  -
            api-server-count,asc             size    -
            attention-backend                text    -
            attention-config,ac              json    -
            calculate-kv-scales              switch  -
            chat-template                    text    * server.chat-template, if the file is there
            chat-template-content-format     text    -
            code-revision                    text    -
            collect-detailed-traces          list    -
            compilation-config,cc            json    -
            convert                          text    * server.task
            cpu-offload-gb                   text    -
            cuda-graph-sizes                 list    -
            data-parallel-address,dpa        text    -
            data-parallel-backend,dpb        text    -
            data-parallel-external-lb,dpe    switch  -
            data-parallel-hybrid-lb,dph      switch  -
            data-parallel-rank,dpn           size    -
            data-parallel-rpc-port,dpp       size    -
            data-parallel-size-local,dpl     size    -
            data-parallel-start-rank,dpr     size    -
            dbo-decode-token-threshold       size    -
            dbo-prefill-token-threshold      size    -
            decode-context-parallel-size,dcp size    -
            device                           text    -
            disable-access-log-for-endpoints text    -
            disable-custom-all-reduce        switch  -
            disable-fastapi-docs             switch  -
            disable-frontend-multiprocessing switch  -
            disable-log-requests             switch  -
            disable-log-stats                switch  -
            disable-sliding-window           switch  -
            disable-uvicorn-access-log       switch  -
            distributed-executor-backend     text    -
            download-dir                     text    -
            enable-auto-tool-choice          switch  -
            enable-dbo                       switch  -
            enable-eplb                      switch  -
            enable-force-include-usage       switch  -
            enable-log-requests              switch  -
            enable-prompt-tokens-details     switch  -
            enable-request-id-headers        switch  -
            enable-server-load-tracking      switch  -
            enable-sleep-mode                switch  -
            enforce-eager                    switch  -
            eplb-config                      json    -
            fully-sharded-loras              switch  -
            generation-config                text    -
            h11-max-header-count             size    -
            headless                         switch  -
            hf-overrides                     json    -
            hf-token                         text    -
            ignore-patterns                  list    -
            kv-cache-memory-bytes            size    -
            kv-offloading-backend            text    -
            language-model-only              switch  * server.multimodal.limit-mm-per-prompt, none of each
            limit-mm-per-prompt              json    * server.multimodal.limit-mm-per-prompt
            load-format                      text    -
            log-config-file                  text    -
            lora-dtype                       text    -
            mamba-ssm-cache-dtype            text    -
            master-addr                      text    -
            master-port                      size    -
            max-log-len                      size    -
            max-logprobs                     size    -
            max-parallel-loading-workers     size    -
            max-seq-len-to-capture           size    -
            middleware                       text    -
            mm-processor-kwargs              json    * server.multimodal.min-pixels and max-pixels
            model-impl                       text    -
            model-loader-extra-config        json    -
            moe-backend                      text    -
            nnodes                           size    -
            node-rank                        size    -
            num-scheduler-steps              size    -
            optimization-level,O             text    -
            otlp-traces-endpoint             text    -
            override-generation-config       json    -
            preemption-mode                  text    -
            reasoning-parser                 text    -
            response-role                    text    -
            revision                         text    -
            root-path                        text    -
            runner                           text    * server.task
            safetensors-load-strategy        text    -
            skip-mm-profiling                switch  -
            skip-tokenizer-init              switch  * the tokenizer of the model's folder is not read
            stream-interval                  size    -
            swap-space                       text    -
            task                             text    * server.task
            tokenizer                        text    * server.tokenizer, if it is a folder or file that is there
            tokenizer-mode                   text    -
            tokenizer-revision               text    -
            tool-call-parser                 text    -
            tool-parser-plugin               text    -
            tool-server                      text    -
            trust-remote-code                switch  -
            uds                              text    -
            uvicorn-log-level                text    -
            worker-extension-cls             text    -
            """);

    private static final Map<String, Flag> BY_NAME = new HashMap<>();

    static {
        ALL.forEach(flag -> flag.names().forEach(name -> BY_NAME.put(name, flag)));
    }

    private Flags() {}

    /** Returns the flag of a name, without dashes in front, or of a beginning that only one name has, as argparse does. */
    static Optional<Flag> find(String name) {
        var exact = BY_NAME.get(name);
        if (exact != null || name.isEmpty()) {
            return Optional.ofNullable(exact);
        }
        var candidates =
                ALL.stream().filter(flag -> flag.name().startsWith(name)).toList();
        return candidates.size() == 1 ? Optional.of(candidates.get(0)) : Optional.empty();
    }

    private static List<Flag> read(String table) {
        return table.lines()
                .map(line -> line.split(" +", 3))
                .map(row -> new Flag(
                        List.of(row[0].split(",")), Flag.Kind.valueOf(row[1].toUpperCase(Locale.ROOT)), row[2]))
                .toList();
    }
}
