package understudy.report.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;

/** Writes what engines have done with drafts and with adapters, as objects of a report, where there was any. */
public record EngineJson(JsonGenerator json) {

    public void write(DraftCounts drafts) throws IOException {
        if (drafts.numDrafts() == 0) {
            return;
        }
        json.writeObjectFieldStart("spec_decode");
        json.writeNumberField("mean_acceptance_length", drafts.meanAcceptanceLength());
        json.writeNumberField("acceptance_rate", drafts.acceptanceRate());
        json.writeNumberField("num_drafts", drafts.numDrafts());
        json.writeNumberField("num_draft_tokens", drafts.numDraftTokens());
        json.writeNumberField("num_accepted_tokens", drafts.numAcceptedTokens());
        json.writeFieldName("num_accepted_tokens_per_pos");
        var perPos = drafts.numAcceptedTokensPerPos();
        json.writeArray(perPos.toLongArray(), 0, perPos.size());
        json.writeEndObject();
    }

    public void write(LoraCounts loras) throws IOException {
        if (loras.numSteps() == 0) {
            return;
        }
        json.writeObjectFieldStart("lora");
        json.writeNumberField("mean_adapters_per_step", loras.meanAdaptersPerStep());
        json.writeNumberField("num_loads", loras.numLoads());
        json.writeNumberField("num_activations", loras.numActivations());
        json.writeEndObject();
    }
}
