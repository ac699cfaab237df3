import Testing

@testable import countersign

@Suite(.timeLimit(.minutes(1)))
struct LastKnownTests {
  /// A database that answers when it's told to.
  private actor SlowDatabase {
    private(set) var questions = 0
    private var waiting: [CheckedContinuation<Int, Never>] = []

    func ask() async -> Int {
      questions += 1
      return await withCheckedContinuation { waiting.append($0) }
    }

    func answer(_ value: Int) {
      for one in waiting { one.resume(returning: value) }
      waiting = []
    }
  }

  @Test func `callers don't wait for a question, which isn't repeated until it's answered`() async {
    let database = SlowDatabase()
    let known = LastKnown(patience: .milliseconds(50), pause: .seconds(60)) { await database.ask() }
    var last = Duration.zero
    for _ in 0..<3 {
      let answer = await known.answer()
      #expect(answer.value == nil && answer.waiting > last)
      last = answer.waiting
    }
    #expect(await database.questions == 1)
    await database.answer(7)
    while await known.answer().value != 7 { await Task.yield() }
    #expect(await known.answer().waiting == .zero)
    #expect(await database.questions == 1)
  }

  @Test func `an answer in time is returned to everyone who waits for it`() async {
    let known = LastKnown(patience: .seconds(30)) { 7 }
    async let one = known.answer()
    async let other = known.answer()
    for answer in await [one, other] { #expect(answer.value == 7 && answer.waiting == .zero) }
  }
}
