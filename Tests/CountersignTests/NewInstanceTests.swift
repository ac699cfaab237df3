import Foundation
import Testing

@testable import countersign

@Suite struct NewInstanceTests {
  struct Interrupted: Error {}

  /// Runs a test with a data folder; the files are written to it first.
  private func withFolder(
    _ files: [String: String], _ body: (DataFolder, NewInstance) throws -> Void
  ) throws {
    let data = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: data) }
    for folder in ["init.draft", "init.ready"] {
      guard files.keys.contains(where: { $0.hasPrefix(folder) }) else { continue }
      try FileManager.default.createDirectory(
        atPath: "\(data)/\(folder)", withIntermediateDirectories: true)
    }
    for (name, text) in files {
      try text.write(toFile: "\(data)/\(name)", atomically: false, encoding: .utf8)
    }
    try body(DataFolder(path: data), NewInstance(data: data))
  }

  private func content(_ folder: DataFolder) throws -> [String: String] {
    var found: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      found[name] = try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
    }
    return found
  }

  private static let ready = ["init.ready/master.key": "k", "init.ready/countersign.sqlite": "d"]

  @Test(arguments: 0...2)
  func `after any interruption past the point of no return, the next start has the instance`(
    number: Int
  ) throws {
    try withFolder(Self.ready) { folder, new in
      let moves = Counter()
      var stopped = new
      stopped.move = { from, to in
        if moves.next() == number { throw Interrupted() }
        try FileManager.default.moveItem(atPath: from, toPath: to)
      }
      let isDone = try? stopped.finish()
      #expect(isDone == (number == 2 ? true : nil))
      #expect(new.isPending == (number < 2))
      #expect(!folder.isVacant)
      let isFinished = try new.finish()
      #expect(isFinished == (number < 2))
      let held = try content(folder)
      #expect(held == ["master.key": "k", "countersign.sqlite": "d"])
    }
  }

  @Test(arguments: [
    ["master.key": "mine"], ["countersign.sqlite": "mine"], ["countersign.sqlite-wal": "mine"],
    ["master.key": "mine", "countersign.sqlite": "mine"],
  ])
  func `a key or a database that's in the folder by then is never replaced`(
    mine: [String: String]
  ) throws {
    try withFolder(mine.merging(Self.ready) { mine, _ in mine }) { folder, new in
      let isFinished = try new.finish()
      #expect(isFinished == false)
      let held = try content(folder)
      #expect(held == mine)
    }
  }

  @Test func `what was interrupted before the point of no return is discarded`() throws {
    let draft = ["init.draft/master.key": "k", "init.draft/countersign.sqlite": ""]
    try withFolder(draft) { folder, new in
      #expect(folder.isVacant && !new.isPending)
      let isFinished = try new.finish()
      #expect(isFinished == false)
      try new.discard()
      let held = try content(folder)
      #expect(held == [:])
    }
  }
}
