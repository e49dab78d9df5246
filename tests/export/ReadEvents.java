import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClientUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads events, one a line, into the classes that OpenLineage publishes, and writes what those hold. */
class ReadEvents {
    public static void main(String[] files) throws Exception {
        List<String> told = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(files[0]), StandardCharsets.UTF_8)) {
            Class<?> kind = line.contains("\"eventType\"") ? OpenLineage.RunEvent.class
                    : line.contains("#/$defs/JobEvent") ? OpenLineage.JobEvent.class
                    : OpenLineage.DatasetEvent.class;
            told.add(OpenLineageClientUtils.toJson(OpenLineageClientUtils.newObjectMapper().readValue(line, kind)));
        }
        Files.write(Path.of(files[1]), told, StandardCharsets.UTF_8);
    }
}
