import Identity
import Synchronization
import Testing

@testable import countersign

struct HousekeepingTests {
  private func withInstance(_ body: (Instance, Log) async throws -> Void) async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      try await body(instance, Log(.text, write: { _, _ in true }))
      await instance.database.close()
    }
  }

  @Test func `an idle server looks for work once a second at most, for bulk removals less often`()
    async throws
  {
    try await withInstance { instance, log in
      let identity = instance.identity
      let folder = DataFolder(path: "unused")
      let tasks = Housekeeping.repeated(
        identity, KeyRotationTask(instance, folder, environment: [:], log: log),
        IntegrityWatch(instance, log: log), AuditSealing(identity, log: log),
        ConnectionTask(identity, log: log),
        ServerWatches(identity, nil, place: "", log: log), log)
      #expect(tasks.allSatisfy { $0.pause >= .seconds(1) })
      let bulk = try #require(tasks.first { $0.name == .bulkRemovals })
      #expect(bulk.pause >= .seconds(2) && bulk.signal === identity.bulkRemovals.work)
      // Each server knows the connections; the task itself asks which one reads.
      let reads = try #require(tasks.first { $0.name == .readConnections })
      #expect(reads.pause >= .seconds(2) && reads.signal === identity.connections.work)
      #expect(!reads.alone && !reads.isInParts)
    }
  }

  private struct Full: Error {}

  @Test func `a task does all parts, logs a failure, and begins again as soon as there's work`()
    async throws
  {
    try await withInstance { instance, _ in
      let (events, event) = AsyncStream.makeStream(of: String.self)
      let log = Log(
        .text,
        write: { line, _ in
          event.yield(line.contains("Full") ? "logged" : line)
          return true
        })
      let script = Mutex(["more", "more", "done", "failed", "done"])
      let work = WorkSignal()
      let task = RepeatedTask(
        .purge, inPartsEvery: .seconds(3_600), orOn: work, alone: true
      ) {
        let step = script.withLock { $0.removeFirst() }
        event.yield(step)
        if step == "failed" { throw Full() }
        return step == "more"
      }
      let identity = instance.identity
      let running = Task { await task.run(identity.taskLease, identity.pacer, log) }
      var seen: [String] = []
      for await step in events {
        seen.append(step)
        if seen.count == 6 { break }
        if step == "done" || step == "logged" { work.send() }
      }
      #expect(seen == ["more", "more", "done", "failed", "logged", "done"])
      running.cancel()
      await running.value
    }
  }
}
