import OpenIDConnect
import Synchronization

/// The provider's discovery document and keys, which are fetched when they're needed and kept for an
/// hour.
///
/// A class, since all use cases share what's kept.
final class ProviderDirectory: Sendable {
  struct Entry: Sendable {
    let discovery: Discovery
    let keys: KeySet
    let fetchedAt: Instant
  }

  /// A fetch that all callers share, and that none of them can cancel.
  private struct Fetch {
    let number: Int
    let issuer: String
    let task: Task<Result<Entry, DirectoryFault>, Never>
    /// When it ended; nil while it's in progress.
    var endedAt: Instant?
  }

  private struct State {
    var entry: Entry?
    var fetch: Fetch?
  }

  let transport: any ProviderTransport
  private let clock: WallClock
  private let state = Mutex(State())

  /// How long an entry is used, in seconds.
  private static let lifetime: Int64 = 3_600
  /// How long the result of a fetch is shared, in seconds.
  private static let pause: Int64 = 10

  init(_ transport: any ProviderTransport, clock: WallClock) {
    (self.transport, self.clock) = (transport, clock)
  }

  /// Returns what's known about an issuer, and fetches it if it's old.
  ///
  /// While the provider can't be reached, an old entry is returned.
  func entry(of issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry {
    let known = state.withLock { $0.entry?.discovery.issuer == issuer ? $0.entry : nil }
    if let known, known.fetchedAt.isRecent(within: Self.lifetime, at: now) { return known }
    do { return try await renewed(issuer, at: now) } catch {
      guard let known, case .unreachable = error.fault else { throw error }
      return known
    }
  }

  /// Fetches an issuer, because what's known is old or a token has an unknown key.
  ///
  /// Anyone can cause a fetch, so callers share one, and its result is kept for ten seconds.
  func renewed(_ issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry {
    let task = state.withLock { state in
      if let fetch = state.fetch, fetch.issuer == issuer,
        fetch.endedAt?.isRecent(within: Self.pause, at: now) ?? true
      {
        return fetch.task
      }
      let number = (state.fetch?.number ?? 0) + 1
      let task = Task { await result(of: number, issuer, at: now) }
      state.fetch = Fetch(number: number, issuer: issuer, task: task)
      return task
    }
    return try await task.value.get()
  }

  private func result(
    of number: Int, _ issuer: String, at now: Instant
  ) async -> Result<Entry, DirectoryFault> {
    let result: Result<Entry, DirectoryFault>
    do { result = .success(try await fetch(issuer, at: now)) } catch { result = .failure(error) }
    let end = clock.now()
    state.withLock { state in
      if state.fetch?.number == number { state.fetch?.endedAt = end }
    }
    return result
  }

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

struct DirectoryFault: Error, Sendable {
  let fault: ConsoleProviderFault

  init(_ fault: ConsoleProviderFault) { self.fault = fault }
}

extension ProviderUnreachable {
  var diagnosis: String {
    switch self {
    case .invalidAddress: "invalid address"
    case .failed(let text): text
    }
  }
}

public struct ProviderRequest: Sendable {
  public let address: String
  public let fields: [(name: String, value: String)]
  /// The body of a POST request; nil for GET.
  public let body: [UInt8]?

  init(_ address: String, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
    (self.address, self.body) = (address, body)
    self.fields = [("Accept", "application/json")] + fields
  }
}

public struct ProviderResponse: Sendable {
  public let status: Int
  public let body: [UInt8]

  public init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
}

public enum ProviderUnreachable: Error, Sendable, Equatable {
  /// The URL isn't one that this server connects to.
  case invalidAddress
  /// The diagnosis, in the words of the library that connects.
  case failed(String)
}

public protocol ProviderTransport: Sendable {
  /// Sends a request and returns the response, whatever its status; doesn't follow redirects.
  func send(_ request: ProviderRequest) async throws(ProviderUnreachable) -> ProviderResponse

  func accepts(_ address: String) -> Bool
}

/// The transport of processes that don't connect to the provider, such as the command line.
struct NoProviderTransport: ProviderTransport {
  func send(_ request: ProviderRequest) async throws(ProviderUnreachable) -> ProviderResponse {
    throw .failed("not connected")
  }

  func accepts(_ address: String) -> Bool { false }
}
