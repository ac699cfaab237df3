import OpenIDConnect
import Synchronization
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

struct ProviderDirectoryTests {
  private let clock = FixedClock()
  private let provider: TestProvider
  private let directory: ProviderDirectory

  init() {
    let clock = clock
    provider = TestProvider { clock.now.seconds }
    directory = ProviderDirectory(provider, clock: clock.wall)
  }

  /// Whether the provider answers.
  private final class Gate: Sendable {
    let isOpen = Atomic(false)
  }

  /// The number of requests for the discovery document.
  private var fetches: Int {
    provider.requests.count { $0.address.hasSuffix("/openid-configuration") }
  }

  private func entry() async throws(DirectoryFault) -> ProviderDirectory.Entry {
    try await directory.entry(of: TestProvider.issuer, at: clock.now)
  }

  @Test(.timeLimit(.minutes(1)))
  func `sign-ins at the same time share one request, and none cancels it for the others`()
    async throws
  {
    let gate = Gate()
    provider.change { behavior in
      behavior.whileDiscovered = {
        // Takes as long for a task that's canceled.
        await Task {
          while !gate.isOpen.load(ordering: .relaxed) {
            try? await Task.sleep(for: .milliseconds(5))
          }
        }.value
      }
    }
    let first = Task { try await entry() }
    while fetches == 0 { try await Task.sleep(for: .milliseconds(5)) }
    let others = (0..<99).map { _ in Task { try await entry() } }
    first.cancel()
    try await Task.sleep(for: .milliseconds(200))
    gate.isOpen.store(true, ordering: .relaxed)
    for other in others { _ = try await other.value }
    _ = try await first.value
    #expect(fetches == 1)
  }

  @Test func `a failure is kept for ten seconds`() async throws {
    provider.change { $0.isDown = true }
    for _ in 0..<3 {
      await #expect(throws: DirectoryFault.self) { _ = try await entry() }
    }
    #expect(fetches == 1)
    provider.change { $0.isDown = false }
    clock.advance(9)
    await #expect(throws: DirectoryFault.self) { _ = try await entry() }
    #expect(fetches == 1)
    clock.advance(1)
    _ = try await entry()
    #expect(fetches == 2)
    // What's known is used meanwhile.
    provider.change { $0.isDown = true }
    clock.advance(3_600)
    for _ in 0..<3 { _ = try await entry() }
    #expect(fetches == 3)
    clock.advance(10)
    _ = try await entry()
    #expect(fetches == 4)
  }

  @Test func `a failure of one issuer isn't kept for another`() async throws {
    await #expect(throws: DirectoryFault.self) {
      _ = try await directory.entry(of: "https://other.example.com", at: clock.now)
    }
    _ = try await entry()
  }
}
