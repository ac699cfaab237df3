import Foundation
import Synchronization
import Testing

@testable import countersign

@Suite struct DatabaseSwapTests {
  struct Interrupted: Error {}

  private static let stamp = "20261121T060102Z"
  private static let old = ["": "old", "-wal": "old log", "-shm": "old index"]

  /// Runs a test with a database, its log and index, and a restored database in a data folder.
  private func withSwap(_ body: (String, DatabaseSwap) throws -> Void) throws {
    let data = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: data) }
    for (suffix, text) in Self.old { try write(text, "\(data)/countersign.sqlite\(suffix)") }
    let swap = DatabaseSwap(data: data)
    try swap.begin()
    try write("new", swap.draftDatabase)
    try body(data, swap)
  }

  private func write(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  private func files(_ data: String) throws -> [String: String] {
    var found: [String: String] = [:]
    for suffix in DatabaseSwap.suffixes {
      let path = "\(data)/countersign.sqlite\(suffix)"
      guard FileManager.default.fileExists(atPath: path) else { continue }
      found[suffix] = try String(contentsOfFile: path, encoding: .utf8)
    }
    return found
  }

  /// Runs the swap, interrupted before the given move; returns true when it finished.
  private func swapped(_ data: String, stopBefore number: Int) -> Bool {
    let moves = Counter()
    var swap = DatabaseSwap(data: data)
    swap.move = { from, to in
      if moves.next() == number { throw Interrupted() }
      try FileManager.default.moveItem(atPath: from, toPath: to)
    }
    do {
      try swap.commit(stamp: Self.stamp)
      try swap.finish()
      return true
    } catch {
      return false
    }
  }

  @Test(arguments: 0...5)
  func `after any interruption, the next start has the old database or the new one`(
    number: Int
  ) throws {
    try withSwap { data, swap in
      let isDone = swapped(data, stopBefore: number)
      #expect(isDone == (number == 5))
      let next = DatabaseSwap(data: data)
      try next.finish()
      if number == 0 {
        #expect(try files(data) == Self.old)
        return
      }
      #expect(try files(data) == ["": "new"])
      #expect(try files("\(data)/before-restore-\(Self.stamp)") == Self.old)
      #expect(!next.isPending)
      #expect(try next.finish() == nil)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: data).sorted()
          == ["before-restore-\(Self.stamp)", "countersign.sqlite"])
    }
  }

  @Test func `a restore in progress is an error that ends by itself`() throws {
    try withSwap { data, swap in
      try swap.commit(stamp: Self.stamp)
      let folder = DataFolder(path: data)
      let restoring = try folder.lock()
      do throws(ConfigurationError) {
        try folder.finishRestore()
        Issue.record("It's finished.")
      } catch {
        #expect(error.exitCode == 75)
      }
      restoring.release()
      try folder.finishRestore()
      #expect(try files(data) == ["": "new"])
    }
  }

  @Test func `the copy of a restore that was killed is deleted, but not while one is running`()
    throws
  {
    try withSwap { data, swap in
      let folder = DataFolder(path: data)
      let server = try folder.lock()
      try folder.finishRestore()
      #expect(try String(contentsOfFile: swap.draftDatabase, encoding: .utf8) == "new")
      try folder.finishRestore(holding: server)
      server.release()
      #expect(!FileManager.default.fileExists(atPath: swap.draft))
      #expect(try files(data) == Self.old)
    }
  }

  @Test func `a log without its database is moved aside too`() throws {
    try withSwap { data, swap in
      try FileManager.default.removeItem(atPath: "\(data)/countersign.sqlite")
      try swap.commit(stamp: Self.stamp)
      #expect(try swap.finish() == "\(data)/before-restore-\(Self.stamp)")
      #expect(try files(data) == ["": "new"])
    }
  }

  @Test func `files and folders with similar names are left alone`() throws {
    try withSwap { data, swap in
      try swap.discard()
      try write("mine", "\(data)/restored-test.sqlite")
      try write("mine", "\(data)/restored-\(Self.stamp)")
      for name in ["restored-drill", "restored-20261121T06010Z", "restored-\(Self.stamp)-2"] {
        try FileManager.default.createDirectory(
          atPath: "\(data)/\(name)", withIntermediateDirectories: false)
        try write("mine", "\(data)/\(name)/countersign.sqlite")
      }
      #expect(!swap.isPending)
      #expect(try swap.finish() == nil)
      #expect(try files(data) == Self.old)
      #expect(try FileManager.default.contentsOfDirectory(atPath: data).count == 8)
    }
  }

  @Test func `leftovers of an interrupted restore aren't used by the next one`() throws {
    try withSwap { data, swap in
      try swap.begin()
      #expect(!FileManager.default.fileExists(atPath: swap.draftDatabase))
      try swap.discard()
      #expect(try files(data) == Self.old)
      #expect(try swap.finish() == nil)
    }
  }
}

/// A counter that starts at 0.
final class Counter: Sendable {
  private let count = Mutex(-1)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
