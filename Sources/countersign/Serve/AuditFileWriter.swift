import Dispatch
import Glibc
import Host
import Identity
import Localization
import Synchronization

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
  /// When the oldest entry happened that isn't written, sealed or not; nil if all are.
  private var oldest: Instant?
  /// When the file began, if it did in this process: earlier entries weren't due before.
  private var began: Instant?
  private var problem: String?
  private var task: Task<Void, Never>?

  private static let interval = Duration.seconds(1)
  /// The longest that it goes on writing while the server stops.
  private static let grace = Duration.seconds(5)
  /// The age of the oldest entry that isn't written, in seconds, from which the file is delayed.
  static let longestLag: Double = 600

  init(_ identity: Identity, _ output: AuditFileOutput, log: Log) {
    (chain, clock) = (identity.auditChain, identity.clock)
    (self.output, self.log) = (output, log)
  }

  /// The age in seconds of the oldest entry that isn't written, sealed or not; 0 if all are.
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
          oldest = part.unsealedSince.map(due)
          succeed()
          return
        }
        oldest = due(first.at)
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

  /// Returns when an entry had to be in the file.
  private func due(_ entry: Instant) -> Instant { began.map { max($0, entry) } ?? entry }

  private func readPosition() throws(ConfigurationError) -> AuditFilePosition {
    if let position = try Self.position(in: output.position) { return position }
    began = began ?? clock.now()
    return AuditFilePosition()
  }

  /// Reads a position; nil if there's none, or if it was damaged: the file gets everything again.
  static func position(in path: String) throws(ConfigurationError) -> AuditFilePosition? {
    do throws(SystemError) {
      return AuditFilePosition(try ReadableFile.contents(path))
    } catch {
      guard error.isMissing else { throw ConfigurationError(reading: path, error) }
      return nil
    }
  }

  private func store(_ position: AuditFilePosition) throws(ConfigurationError) {
    do { try WritableFile.replace(output.position, with: position.text) } catch {
      throw ConfigurationError(writing: output.position, error)
    }
    isStored = true
  }

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

/// The file of `--audit-file`, or standard output.
final class AuditFileOutput: Sendable {
  private enum Target: Sendable {
    /// A file; nil if it couldn't be opened.
    case file(Int32?)
    /// The descriptor of what was standard output, and whether the last line was cut off.
    case output(Int32, isCut: Bool)
  }

  /// The path, or `-`.
  let path: String
  let position: String
  /// Keeps other servers with the data folder from writing to their standard output, which would use
  /// the same position.
  private let lock: FolderLock?
  private let target: Mutex<Target>
  // Disks and pipes may be slow.
  private let queue = DispatchQueue(label: "audit-file")

  /// Opens the file, which is created if it's missing; or takes standard output, so that whatever else
  /// goes there is written to standard error.
  init(_ path: String, in folder: DataFolder) throws(ConfigurationError) {
    self.path = path
    guard path == "-" else {
      position = Self.position(of: path)
      lock = nil
      target = Mutex(.file(try Self.open(path)))
      return
    }
    position = folder.auditFilePosition
    guard let lock = try folder.lockStandardOutput() else {
      throw .temporary(
        Message(
          """
          Another server with the data folder {path} writes the audit log to its standard output. \
          Give each server a separate data folder, or a file.
          """, ["path": .text(folder.path)]))
    }
    self.lock = lock
    do { target = Mutex(.output(try StandardStream.reserveOutput(), isCut: false)) } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  static func position(of path: String) -> String { path + ".position" }

  var isStandardOutput: Bool { path == "-" }

  /// Refuses a database that an earlier state was recovered of, in which ended sessions and used codes
  /// are valid again.
  func mustNotBeAhead(of identity: Identity, in folder: DataFolder) async throws {
    guard let written = try AuditFileWriter.position(in: position),
      try await identity.auditChain.isBehind(written)
    else { return }
    throw ConfigurationError(
      Message(
        """
        The audit file {file} has entries that the audit log lacks, so an earlier state of the \
        database was recovered: sessions that ended and codes that were used are valid again. Stop \
        all servers, and run: countersign restored {options}
        """, ["file": .text(path), "options": .text(folder.options)]))
  }

  private static func open(_ path: String) throws(ConfigurationError) -> Int32 {
    // Another server may append in the meantime, whose lines mustn't be overwritten.
    do {
      return try WritableFile.open(path, permissions: 0o640, appends: true, isFolders: true)
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  func reopen() async throws(ConfigurationError) {
    try await use { [path] (target) throws(ConfigurationError) in
      guard case .file(let file) = target else { return }
      if let file { close(file) }
      target = .file(nil)
      target = .file(try Self.open(path))
    }
  }

  /// Appends lines, all or none, and waits until they're on disk; standard output has a part of them
  /// if it fails.
  func append(_ lines: [[UInt8]]) async throws(ConfigurationError) {
    try await use { [path] (target) throws(ConfigurationError) in
      switch target {
      case .file(let file):
        var descriptor = file
        if let open = file, WritableFile.isDeleted(open) {
          close(open)
          descriptor = nil
        }
        target = .file(nil)
        let open = if let descriptor { descriptor } else { try Self.open(path) }
        target = .file(open)
        do { try WritableFile.append(lines, to: open) } catch {
          throw ConfigurationError(writing: path, error)
        }
      case .output(let descriptor, let isCut):
        let lineFeed = UInt8(ascii: "\n")
        target = .output(descriptor, isCut: true)
        do throws(StandardStream.WriteError) {
          try StandardStream.write(
            (isCut ? [lineFeed] : []) + lines.flatMap { $0 + [lineFeed] }, to: descriptor)
        } catch {
          throw ConfigurationError(
            Message(
              "The command finished, but its output can't be written: {reason}.",
              ["reason": .text(error.reason)]))
        }
        target = .output(descriptor, isCut: false)
      }
    }
  }

  private func use(
    _ body: @escaping @Sendable (inout Target) throws(ConfigurationError) -> Void
  ) async throws(ConfigurationError) {
    let result = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: self.target.withLock { target -> Result<Void, ConfigurationError> in
            do throws(ConfigurationError) {
              try body(&target)
              return .success(())
            } catch { return .failure(error) }
          })
      }
    }
    try result.get()
  }
}
