import Localization
import Synchronization
import Testing

@testable import countersign
@testable import Identity

struct KeyDistributionTests {
  /// Runs a distribution in which each question has the next answer.
  private func run(_ answers: [[String]]) async throws -> (lacking: [String], said: [String]) {
    let left = Mutex(answers)
    let said = Mutex<[String]>([])
    let distribution = KeyDistribution(
      lacking: {
        let places = left.withLock { $0.isEmpty ? [] : $0.removeFirst() }
        return places.map { Nodes.Node(place: $0, keys: []) }
      },
      pause: { left.withLock { !$0.isEmpty } },
      say: { message in said.withLock { $0.append(OperatorText.string(message)) } })
    let lacking = try await distribution.finish(copying: "/data/master.key")
    return (lacking, said.withLock { $0 })
  }

  @Test func `without other servers, nothing is said`() async throws {
    let (lacking, said) = try await run([[]])
    #expect(lacking == [] && said == [])
  }

  @Test func `it names the servers, waits for each, and ends`() async throws {
    let (lacking, said) = try await run([["a:/k", "b:/k"], ["a:/k", "b:/k"], ["b:/k"], []])
    #expect(lacking == [])
    #expect(said.count == 3)
    #expect(said[0].contains("/data/master.key") && said[0].contains("a:/k, b:/k"))
    #expect(said[1].hasPrefix("a:/k ") && said[2].hasPrefix("b:/k "))
  }

  @Test func `a server that starts meanwhile is waited for`() async throws {
    #expect(try await run([["a:/k"], ["b:/k"], []]).lacking == [])
  }

  @Test func `those that still lack the key at the end are returned`() async throws {
    #expect(try await run([["a:/k", "b:/k"], ["b:/k"]]).lacking == ["b:/k"])
  }
}
