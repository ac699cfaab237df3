import Database
import OpenIDConnect
import Synchronization

/// The provider's discovery document and keys, which are fetched when they're needed and kept for an
/// hour.
///
/// A class, since all use cases share what's kept.
final class ProviderDirectory: Sendable {
  /// What's known about one issuer.
  struct Entry: Sendable {
    let discovery: Discovery
    let keys: KeySet
    let fetchedAt: Instant
  }

  /// A fetch that all callers share, and that none of them can cancel.
  private struct Attempt {
    let number: Int
    let issuer: String
    let task: Task<Result<Entry, DirectoryFault>, Never>
    /// When it failed; nil while it's in progress.
    var failedAt: Instant?
  }

  private struct State {
    var entry: Entry?
    /// The fetch in progress, or the last one, if it failed.
    var attempt: Attempt?
    /// The number of fetches that callers shared.
    var attempts = 0
    /// The fetches that are left, and when the last one was added.
    var fetches = mostFetches
    var refilledAt: Instant?
  }

  let transport: any ProviderTransport
  private let clock: WallClock
  private let state = Mutex(State())

  /// How long an entry is used, in seconds.
  private static let lifetime: Int64 = 3_600
  /// How long a failure is kept, in seconds.
  private static let pause: Int64 = 10
  /// The maximum number of fetches at once because of unknown keys.
  private static let mostFetches = 5
  /// The time until another such fetch is possible, in seconds.
  private static let refill: Int64 = 60

  init(_ transport: any ProviderTransport, clock: WallClock) {
    (self.transport, self.clock) = (transport, clock)
  }

  /// Returns what's known about an issuer, and fetches it if it's old.
  ///
  /// Anyone can cause a fetch, so callers share one, and a failure is kept for ten seconds. While the
  /// provider can't be reached, an old entry is returned.
  ///
  /// - Throws: ``ConsoleProviderFault``.
  func entry(of issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry {
    switch state.withLock({ find(issuer, at: now, &$0) }) {
    case .recent(let entry): return entry
    case .fetched(let task, let old):
      do { return try await task.value.get() } catch {
        guard let old, case .unreachable = error.fault else { throw error }
        return old
      }
    }
  }

  private enum Found {
    case recent(Entry)
    /// The fetch in progress, or one that just failed; with the older entry, if any.
    case fetched(Task<Result<Entry, DirectoryFault>, Never>, old: Entry?)
  }

  /// Returns what's known, or the fetch of it, which begins if there's none.
  private func find(_ issuer: String, at now: Instant, _ state: inout State) -> Found {
    let known = state.entry?.discovery.issuer == issuer ? state.entry : nil
    if let known, known.fetchedAt.isRecent(within: Self.lifetime, at: now) {
      return .recent(known)
    }
    if let attempt = state.attempt, attempt.issuer == issuer,
      attempt.failedAt?.isRecent(within: Self.pause, at: now) ?? true
    {
      return .fetched(attempt.task, old: known)
    }
    state.attempts += 1
    let number = state.attempts
    let task = Task { await result(of: number, issuer, at: now) }
    state.attempt = Attempt(number: number, issuer: issuer, task: task)
    return .fetched(task, old: known)
  }

  private func result(
    of number: Int, _ issuer: String, at now: Instant
  ) async -> Result<Entry, DirectoryFault> {
    let result: Result<Entry, DirectoryFault>
    do { result = .success(try await fetch(issuer, at: now)) } catch { result = .failure(error) }
    let end = clock.now()
    state.withLock { state in
      guard state.attempt?.number == number else { return }
      switch result {
      case .success: state.attempt = nil
      case .failure: state.attempt?.failedAt = end
      }
    }
    return result
  }

  /// Fetches an issuer again because a token has an unknown key; nil if that happened too often.
  ///
  /// - Throws: ``ConsoleProviderFault``.
  func renewed(_ issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry? {
    let isAllowed = state.withLock { state in
      if state.refilledAt?.isInFuture(at: now) == true { state.refilledAt = nil }
      let passed = state.refilledAt.map { now.seconds - $0.seconds } ?? 0
      let refilled = Int(clamping: max(0, passed) / Self.refill)
      if refilled > 0 { state.fetches = min(Self.mostFetches, state.fetches + refilled) }
      if refilled > 0 || state.refilledAt == nil { state.refilledAt = now }
      guard state.fetches > 0 else { return false }
      state.fetches -= 1
      return true
    }
    return isAllowed ? try await fetch(issuer, at: now) : nil
  }

  /// Fetches the document and the keys of an issuer.
  ///
  /// - Throws: ``DirectoryFault``.
  func fetch(_ issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry {
    let document = try await body(Discovery.address(of: issuer))
    let discovery: Discovery
    do { discovery = try Discovery(document, of: issuer) } catch {
      throw DirectoryFault(.discovery(error))
    }
    let addresses: [(String, String?)] = [
      ("authorization_endpoint", discovery.authorizationEndpoint),
      ("token_endpoint", discovery.tokenEndpoint), ("jwks_uri", discovery.keysAddress),
      ("userinfo_endpoint", discovery.userInfoEndpoint),
    ]
    for (name, address) in addresses {
      guard let address else { continue }
      guard transport.accepts(address) else { throw DirectoryFault(.invalidAddress(name)) }
    }
    let bytes = try await body(discovery.keysAddress)
    let keys: KeySet
    do { keys = try KeySet(published: String(decoding: bytes, as: UTF8.self)) } catch {
      throw DirectoryFault(.noKeys)
    }
    let entry = Entry(discovery: discovery, keys: keys, fetchedAt: now)
    state.withLock { $0.entry = entry }
    return entry
  }

  private func body(_ address: String) async throws(DirectoryFault) -> [UInt8] {
    let response: ProviderResponse
    do { response = try await transport.send(ProviderRequest(address)) } catch {
      throw DirectoryFault(.unreachable(error.diagnosis))
    }
    guard response.status == 200 else {
      throw DirectoryFault(.unreachable("HTTP \(response.status)"))
    }
    return response.body
  }
}

/// Why an issuer's document and keys can't be used.
struct DirectoryFault: Error, Sendable {
  let fault: ConsoleProviderFault

  init(_ fault: ConsoleProviderFault) { self.fault = fault }
}

extension ProviderUnreachable {
  /// The diagnosis.
  var diagnosis: String {
    switch self {
    case .invalidAddress: "invalid address"
    case .failed(let text): text
    }
  }
}
