import Foundation
import Testing

/// Tests random sequences of actions on second factors by random users and administrators.
///
/// Each run is determined by its seed. `COUNTERSIGN_SEED` sets the first seed: use the seed from a
/// failure message to reproduce a run, or a different one to test more sequences.
struct StateMachineTests {
  private static let parts = 8
  private static let runs = 50
  private static let first =
    ProcessInfo.processInfo.environment["COUNTERSIGN_SEED"].flatMap(UInt64.init) ?? 1

  /// Actions that must never succeed.
  private static let neverAllowed: Set = ["gone-for-good", "pending-of-deleted"]

  /// How often each action succeeded and was refused.
  private typealias Tally = [String: (done: Int, refused: Int)]

  @Test
  func `purged factors are refused, removals end all sessions, each change has one audit row`()
    async throws
  {
    let world = try await StateMachineModel.shared.value
    let tally = await withTaskGroup(of: Tally.self) { group in
      for part in 0..<Self.parts {
        group.addTask { await Self.run(world, from: UInt64(part * Self.runs)) }
      }
      return await group.reduce(into: Tally()) { Self.add($1, to: &$0) }
    }
    guard tally["broken"] == nil else { return }
    // A model that refuses everything would agree with a server that does, so require successes.
    for (action, count) in tally.sorted(by: { $0.key < $1.key }) {
      #expect(count.done > 2 || Self.neverAllowed.contains(action), "\(action): \(count)")
    }
    for action in [
      "remove", "remove-all", "undo", "suspend", "temporary-code", "begin", "approve", "refuse",
      "code", "sms", "refresh", "lookup", "enroll", "enroll-phone", "withdraw", "recovery-codes",
      "link", "revert", "not-me", "change", "protect", "allow-changes", "gone-for-good", "delete",
      "grant", "revoke", "remove-administrator", "rename",
    ] {
      #expect(tally[action].map { $0.refused > 5 } ?? false, "\(action): \(tally[action] as Any)")
    }
    #expect(tally.count == 49, "\(tally.keys.sorted())")
  }

  private static func run(_ world: StateMachineModel, from start: UInt64) async -> Tally {
    var tally: Tally = [:]
    for number in 0..<UInt64(runs) {
      do {
        let run = try await StateMachine.run(world, seed: first &+ start &+ number)
        add(run.tally, to: &tally)
      } catch {
        Issue.record(Comment(rawValue: (error as? Broken)?.what ?? "\(error)"))
        return ["broken": (1, 0)]
      }
    }
    return tally
  }

  private static func add(_ more: Tally, to tally: inout Tally) {
    for (action, count) in more {
      tally[action, default: (0, 0)].done += count.done
      tally[action, default: (0, 0)].refused += count.refused
    }
  }
}
