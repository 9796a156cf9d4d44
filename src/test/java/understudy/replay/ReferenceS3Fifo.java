package understudy.replay;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** S3-FIFO in three lists, oldest first, and a map of frequencies. */
final class ReferenceS3Fifo implements ReferenceCache {
    private final int smallCapacity;
    private final int mainCapacity;
    private final int maxFreq;
    private final List<Integer> small = new ArrayList<>();
    private final List<Integer> main = new ArrayList<>();
    private final List<Integer> ghosts = new ArrayList<>();
    private final Map<Integer, Integer> freqs = new HashMap<>();

    ReferenceS3Fifo(ReplaySettings settings) {
        smallCapacity = new BigDecimal(settings.capacityBlocks() * settings.smallRatio())
                .setScale(0, RoundingMode.HALF_EVEN)
                .intValue();
        mainCapacity = settings.capacityBlocks() - smallCapacity;
        maxFreq = settings.maxFreq();
    }

    @Override
    public boolean isResident(int block) {
        return small.contains(block) || main.contains(block);
    }

    @Override
    public void access(int block, int request, int position) {
        if (isResident(block)) {
            freqs.computeIfPresent(block, (key, freq) -> Math.min(maxFreq, freq + 1));
        } else if (ghosts.remove((Integer) block)) {
            intoMain(block, 0);
        } else {
            intoSmall(block);
        }
    }

    @Override
    public int size() {
        return small.size() + main.size();
    }

    private void intoSmall(int block) {
        while (small.size() >= smallCapacity) {
            int victim = small.remove(0);
            if (freqs.get(victim) > 0) {
                intoMain(victim, freqs.get(victim));
            } else {
                intoGhosts(victim);
            }
        }
        small.add(block);
        freqs.put(block, 0);
    }

    private void intoMain(int block, int freq) {
        while (main.size() >= mainCapacity) {
            int first = main.remove(0);
            if (freqs.get(first) > 0) {
                freqs.put(first, freqs.get(first) - 1);
                main.add(first);
            } else {
                intoGhosts(first);
            }
        }
        main.add(block);
        freqs.put(block, freq);
    }

    private void intoGhosts(int block) {
        if (ghosts.size() == mainCapacity) {
            ghosts.remove(0);
        }
        ghosts.add(block);
    }
}
