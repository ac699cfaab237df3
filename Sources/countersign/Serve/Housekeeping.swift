import Identity

/// What a server does by itself beside answering requests.
struct Housekeeping: Sendable {
  private let identity: Identity
  private let tasks: [Task<Void, Never>]

  /// Begins at once with what an earlier run has left to delete.
  init(_ identity: Identity, keeper: KeyRotationTask) {
    self.identity = identity
    tasks = [
      Task { await Self.keep(keeper) },
      Task { await Self.watchClock(identity) },
      Task { await Self.purgeExpired(identity) },
      Task { await Self.purge(identity) },
      Task { await Self.file(identity) },
      Task { await Self.age(identity) },
      Task { await Self.removeMany(identity) },
    ]
  }

  /// Ends it; what waits in memory is written down.
  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    do { try await identity.recordUses() } catch { Terminal.complain("\(error)") }
  }

  /// Says when the clock isn't trusted any more, and when it is again.
  private static func watchClock(_ identity: Identity) async {
    var last = identity.clockGuard.doubt
    while await slept(.seconds(2)) {
      do {
        let doubt = try await identity.clockGuard.check()
        if let doubt, last == nil { Terminal.complain(doubt.description) }
        let isTrustedAgain = doubt == nil && last != nil
        last = doubt
        guard isTrustedAgain else { continue }
        Terminal.complain("The clock is trusted again.")
        // What has waited would wait for the next minute.
        try await identity.purgeExpired()
      } catch {
        Terminal.complain("\(error)")
      }
    }
  }

  private static func purgeExpired(_ identity: Identity) async {
    // At once too: what ran out while no server ran shall not lie about for another minute.
    repeat {
      do { try await identity.purgeExpired() } catch { Terminal.complain("\(error)") }
    } while await slept(.seconds(60))
  }

  /// Deletes part after part of what was marked, with room for other writes between them.
  private static func purge(_ identity: Identity) async {
    repeat {
      do {
        while try await identity.purge(), await slept(.milliseconds(5)) {}
      } catch {
        Terminal.complain("\(error)")
      }
    } while await slept(.seconds(5))
  }

  /// Files what the audit log got, many rows at a time.
  private static func file(_ identity: Identity) async {
    while await slept(.seconds(2)) {
      do {
        while try await identity.audit.file(), await slept(.milliseconds(5)) {}
      } catch {
        Terminal.complain("\(error)")
      }
    }
  }

  /// Counts and deletes old verdicts part after part, with room for other writes between them.
  private static func age(_ identity: Identity) async {
    repeat {
      do {
        while try await identity.expireCodeAttempts(), await slept(.milliseconds(5)) {}
      } catch {
        Terminal.complain("\(error)")
      }
    } while await slept(.seconds(60))
  }

  /// Goes through lists of users part after part.
  ///
  /// Between two of them others have at least twice as long as the last one took, waiting for its
  /// turn included: two thirds of the time are theirs, and it steps back where much is asked.
  private static func removeMany(_ identity: Identity) async {
    let clock = ContinuousClock()
    repeat {
      do {
        var isMore = true
        while isMore {
          let start = clock.now
          isMore = try await identity.bulkRemovals.step()
          guard isMore else { break }
          guard await slept(max(.milliseconds(5), (clock.now - start) * 2)) else { return }
        }
      } catch {
        Terminal.complain("Removals: \(error)")
        guard await slept(.seconds(5)) else { return }
      }
    } while await slept(.milliseconds(250))
  }

  /// Takes new keys up, and seals with a new master key part after part.
  private static func keep(_ keeper: KeyRotationTask) async {
    repeat {
      do {
        while try await keeper.look(), await slept(.milliseconds(5)) {}
      } catch {
        Terminal.complain("\(error)")
      }
    } while await slept(.seconds(5))
  }

  /// Waits; false when it was to stop meanwhile.
  private static func slept(_ time: Duration) async -> Bool {
    do { try await Task.sleep(for: time) } catch { return false }
    return true
  }
}
