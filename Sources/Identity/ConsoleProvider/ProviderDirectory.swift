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

  private struct State {
    var entry: Entry?
    /// The fetches that are left, and when the last one was added.
    var fetches = mostFetches
    var refilledAt: Instant?
  }

  let transport: any ProviderTransport
  private let state = Mutex(State())

  /// How long an entry is used, in seconds.
  private static let lifetime: Int64 = 3_600
  /// The maximum number of fetches at once because of unknown keys.
  private static let mostFetches = 5
  /// The time until another such fetch is possible, in seconds.
  private static let refill: Int64 = 60

  init(_ transport: any ProviderTransport) { self.transport = transport }

  /// Returns what's known about an issuer, and fetches it if it's old.
  ///
  /// While the provider can't be reached, an old entry is returned.
  ///
  /// - Throws: ``ConsoleProviderFault``.
  func entry(of issuer: String, at now: Instant) async throws(DirectoryFault) -> Entry {
    let known = state.withLock { $0.entry }
    guard let known, known.discovery.issuer == issuer else {
      return try await fetch(issuer, at: now)
    }
    guard !known.fetchedAt.isRecent(within: Self.lifetime, at: now) else { return known }
    do { return try await fetch(issuer, at: now) } catch {
      guard case .unreachable = error.fault else { throw error }
      return known
    }
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
