import Testing

@testable import countersign

struct SMTPClientsTests {
  @Test func `an email is sent on the connection with the fewest emails`() {
    var loads = SMTPClients.Loads(connections: 2)
    #expect((0..<4).map { _ in loads.add() } == [0, 1, 0, 1])
    loads.remove(1)
    loads.remove(1)
    loads.remove(0)
    // One of the first connection's emails is still being sent.
    #expect(loads.add() == 1)
  }
}
