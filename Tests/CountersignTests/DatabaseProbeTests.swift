import Testing

@testable import countersign

@Suite(.timeLimit(.minutes(1)))
struct DatabaseProbeTests {
  /// A database that answers when it's told to.
  private actor SlowDatabase {
    private(set) var writes = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func write() async {
      writes += 1
      await withCheckedContinuation { waiting.append($0) }
    }

    func answer() {
      for one in waiting { one.resume() }
      waiting = []
    }
  }

  @Test func `a write that takes too long is given up, and not repeated until it ends`() async {
    let database = SlowDatabase()
    let probe = DatabaseProbe(longest: .milliseconds(50)) { await database.write() }
    for _ in 0..<2 {
      let isWritable = await probe.isWritable()
      #expect(!isWritable)
    }
    #expect(await database.writes == 1)
    await database.answer()
  }

  @Test func `a write in time says whether it succeeded`() async {
    for fails in [false, true] {
      let probe = DatabaseProbe(longest: .seconds(30)) {
        if fails { throw CancellationError() }
      }
      let isWritable = await probe.isWritable()
      #expect(isWritable == !fails)
    }
  }
}
