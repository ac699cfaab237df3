import Host
import Identity

/// Appends the audit log to the audit file.
///
/// Each server that has one writes all entries, at least once and in order: a position is stored once
/// the entries are on disk.
actor AuditFileWriter {
  private let chain: AuditChain
  private let clock: WallClock
  private let output: AuditFileOutput
  private let log: Log
  private var position: AuditFilePosition?
  private var isStored = true
  /// When the oldest entry happened that isn't written; nil if all are.
  private var oldest: Instant?
  private var problem: String?
  private var task: Task<Void, Never>?

  /// How often it looks for new entries.
  private static let interval = Duration.seconds(1)
  /// The longest that it goes on writing while the server stops.
  private static let grace = Duration.seconds(5)
  /// The age of the oldest entry that isn't written, in seconds, from which the file is delayed.
  private static let longestLag: Double = 600

  init(_ identity: Identity, _ output: AuditFileOutput, log: Log) {
    (chain, clock) = (identity.auditChain, identity.clock)
    (self.output, self.log) = (output, log)
  }

  /// The age in seconds of the oldest sealed entry that isn't written; 0 if all are.
  var lag: Double {
    oldest.map { max(0, Double(clock.now().microseconds - $0.microseconds) / 1e6) } ?? 0
  }

  var isDelayed: Bool { problem != nil || lag > Self.longestLag }

  func start() {
    task = Task {
      repeat { await self.write() } while await slept(Self.interval)
    }
  }

  /// Writes what's left, within a few seconds; the rest is written after the next start.
  func finish() async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let last = Task { [task] in
      task?.cancel()
      await task?.value
      await self.write()
      end.finish()
    }
    let limit = Task { if await slept(Self.grace) { end.finish() } }
    for await _ in ends {}
    last.cancel()
    limit.cancel()
  }

  private func write() async {
    do {
      var position = if let known = self.position { known } else { try readPosition() }
      self.position = position
      while !Task.isCancelled {
        if !isStored { try store(position) }
        let part = try await chain.auditFilePart(after: position)
        guard let first = part.lines.first else {
          oldest = nil
          succeed()
          return
        }
        oldest = oldest ?? first.at
        try await output.append(part.lines.map(\.bytes))
        position = part.end
        (self.position, isStored, oldest) = (position, false, nil)
        try store(position)
        succeed()
      }
    } catch let error as ConfigurationError {
      fail(error)
    } catch {
      log.add(.taskFailed(.writeAuditFile, reason: "\(error)"))
    }
  }

  private func readPosition() throws(ConfigurationError) -> AuditFilePosition {
    do throws(SystemError) {
      // One that isn't valid was damaged: the file gets everything again.
      return AuditFilePosition(try ReadableFile.contents(output.position)) ?? AuditFilePosition()
    } catch {
      guard error.isMissing else { throw ConfigurationError(reading: output.position, error) }
      return AuditFilePosition()
    }
  }

  private func store(_ position: AuditFilePosition) throws(ConfigurationError) {
    do { try WritableFile.replace(output.position, with: position.text) } catch {
      throw ConfigurationError(writing: output.position, error)
    }
    isStored = true
  }

  /// Logs that the file is written again.
  private func succeed() {
    guard problem != nil else { return }
    problem = nil
    log.add(.auditFileWritten(path: output.path))
  }

  /// Logs a failure, unless it was the last one as well.
  private func fail(_ error: ConfigurationError) {
    let reason = "\(error)"
    if problem != reason { log.add(.auditFileNotWritten(path: output.path, reason: reason)) }
    problem = reason
  }
}
