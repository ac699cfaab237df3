import Testing

@testable import Crypto

struct FairQueueTests {
  /// Adds an element and returns the result as text.
  private func add(
    _ element: String, cost: Int = 1, to queue: inout FairQueue<String>
  ) -> String {
    let group: Int64 = element.first == "a" ? 1 : element.first == "b" ? 2 : 3
    return switch queue.add(element, of: group, cost: cost) {
    case .start: "start"
    case .wait(nil): "wait"
    case .wait(let displaced?): "for \(displaced)"
    case .refuse: "refuse"
    }
  }

  private func drain(_ queue: inout FairQueue<String>) -> [String] {
    var order: [String] = []
    while let element = queue.next() { order.append(element) }
    return order
  }

  @Test func `one group waits in order and can use three quarters of the places`() {
    var queue = FairQueue<String>(width: 2, places: 8)
    let admissions = (0..<10).map { add("a\($0)", to: &queue) }
    #expect(admissions[..<2] == ["start", "start"])
    #expect(admissions[2..<8].allSatisfy { $0 == "wait" })
    #expect(admissions[8...] == ["refuse", "refuse"])
    #expect(drain(&queue) == ["a2", "a3", "a4", "a5", "a6", "a7"])
    // Both running elements have finished, so two more can start.
    #expect(queue.next() == nil)
    #expect((0..<3).map { add("b\($0)", to: &queue) } == ["start", "start", "wait"])
  }

  @Test func `another group is served next even if the first has many waiting`() {
    var queue = FairQueue<String>(width: 1, places: 64)
    for number in 0..<200 { _ = add("a\(number)", to: &queue) }
    #expect(add("b0", to: &queue) == "wait")
    #expect(add("c0", to: &queue) == "wait")
    #expect(add("b1", to: &queue) == "wait")
    #expect((0..<6).map { _ in queue.next() } == ["b0", "c0", "a1", "b1", "a2", "a3"])
  }

  @Test func `when the queue is full, the largest group loses its last element`() {
    var queue = FairQueue<String>(width: 1, places: 8)
    for number in 0..<7 { #expect(add("a\(number)", to: &queue) != "refuse") }
    for number in 0..<2 { #expect(add("b\(number)", to: &queue) == "wait") }
    #expect(add("a7", to: &queue) == "refuse")
    #expect(add("c0", to: &queue) == "for a6")
    #expect(add("b2", to: &queue) == "for a5")
    #expect(add("c1", to: &queue) == "for a4")
    // Each group now has its share of the eight places.
    #expect(add("b3", to: &queue) == "refuse")
    #expect(add("c2", to: &queue) == "refuse")
    #expect((queue.running, queue.count, queue.rejections) == (1, 8, 6))
    #expect(drain(&queue) == ["b0", "c0", "a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test func `groups get the same work, however costly their elements are`() {
    var queue = FairQueue<String>(width: 1, places: 64)
    for number in 0..<40 { _ = add("a\(number)", cost: 8, to: &queue) }
    for number in 0..<20 { _ = add("b\(number)", to: &queue) }
    let order = (0..<18).compactMap { _ in queue.next()?.first }
    #expect(String(order) == "bbbbbbbbabbbbbbbba")
  }

  @Test func `a group that was idle saves up no turns, and doesn't pay for idle time`() {
    var queue = FairQueue<String>(width: 1, places: 64)
    for number in 0..<4 { _ = add("a\(number)", cost: 8, to: &queue) }
    _ = add("b0", to: &queue)
    #expect(queue.next() == "b0")
    #expect((0..<3).map { _ in queue.next() } == ["a1", "a2", "a3"])
    for number in 1..<10 { _ = add("b\(number)", to: &queue) }
    for number in 4..<6 { _ = add("a\(number)", to: &queue) }
    // The other one was served 8 more.
    let order = (0..<11).compactMap { _ in queue.next()?.first }
    #expect(String(order) == "bbbbbbbbaba")
    #expect(queue.next() == nil)
  }

  @Test func `when the queue is full, the group with the most waiting work loses its last`() {
    var queue = FairQueue<String>(width: 1, places: 8)
    for number in 0..<3 { #expect(add("a\(number)", cost: 100, to: &queue) != "refuse") }
    for number in 0..<6 { #expect(add("b\(number)", to: &queue) == "wait") }
    #expect(add("c0", to: &queue) == "for a2")
    #expect(add("c1", cost: 100, to: &queue) == "refuse")
    #expect((queue.running, queue.count, queue.rejections) == (1, 8, 2))
  }

  @Test func `without places, only running elements are admitted`() {
    var queue = FairQueue<String>(width: 1, places: 0)
    #expect(["a0", "a1", "b0"].map { add($0, to: &queue) } == ["start", "refuse", "refuse"])
  }
}
