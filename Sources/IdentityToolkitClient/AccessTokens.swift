import Crypto
import JSON
import OpenIDConnect
import Text

/// A token that a service account calls Google with.
struct AccessToken: Sendable {
  let secret: Secret
  /// On the clock that nothing adjusts.
  let expiresAt: Duration
}

/// The access tokens of a service account: one at a time, in memory, renewed five minutes early, once
/// for all who wait.
actor AccessTokens {
  let key: ServiceAccountKey
  private let transport: any RemoteTransport
  private let clock: RemoteClock
  private let pace: RemotePace
  private var current: AccessToken?
  private var renewal: Task<Result<AccessToken, RemoteFault>, Never>?

  private static let margin = Duration.seconds(300)
  /// How long an assertion is valid, in seconds, the longest that Google accepts.
  private static let lifetime: Int64 = 3_600
  /// How far a clock may be ahead of Google's, in seconds.
  private static let tolerance: Int64 = 60
  private static let longestToken = 16_384
  private static let scope = "https://www.googleapis.com/auth/cloud-platform"
  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  init(
    _ key: ServiceAccountKey, _ transport: any RemoteTransport, _ clock: RemoteClock,
    _ pace: RemotePace
  ) {
    (self.key, self.transport, self.clock, self.pace) = (key, transport, clock, pace)
  }

  /// Returns a token that's still valid; never the one that Google refused.
  ///
  /// While Google gives no other, a token is used until it expires.
  func token(otherThan refused: AccessToken? = nil) async throws(RemoteFault) -> AccessToken {
    let known = current.flatMap { $0.secret == refused?.secret ? nil : $0 }
    if let known, clock.steady() < known.expiresAt - Self.margin { return known }
    // None of those who wait can cancel it.
    let task = if let renewal { renewal } else { Task { await renewed() } }
    renewal = task
    switch await task.value {
    case .success(let token): return token
    case .failure(let fault):
      guard let known, clock.steady() < known.expiresAt else { throw fault }
      return known
    }
  }

  private func renewed() async -> Result<AccessToken, RemoteFault> {
    defer { renewal = nil }
    do throws(RemoteFault) {
      let new = try await exchange()
      current = new
      return .success(new)
    } catch {
      return .failure(error)
    }
  }

  /// Exchanges an assertion for a token (RFC 7523, section 2.1).
  private func exchange() async throws(RemoteFault) -> AccessToken {
    let sentAt = clock.steady()
    let form = FormText.encode([("grant_type", Self.grant), ("assertion", try assertion())])
    let request = RemoteRequest(
      url: RemoteHost.token,
      fields: [
        ("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"),
      ], method: "POST", body: Array(form.utf8))
    let response = try await transport.send(request)
    guard response.status == 200 else {
      if [429, 503].contains(response.status) { pace.hold(response.retryAfter) }
      throw RemoteFault(token: response, of: key, at: clock.now())
    }
    let answer = try? JSON.parse(response.body)
    guard let text = answer?["access_token"]?.textValue?.text(atMost: Self.longestToken),
      !text.isEmpty, text.utf8.allSatisfy({ (33...126).contains($0) })
    else { throw RemoteFault(.unreadable) }
    let seconds = answer?["expires_in"]?.integer ?? Self.lifetime
    return AccessToken(
      secret: Secret(text), expiresAt: sentAt + .seconds(min(max(seconds, 0), Self.lifetime)))
  }

  private func assertion() throws(RemoteFault) -> String {
    // Google accepts none from the future, and most clocks are ahead of another.
    let issuedAt = clock.now() - Self.tolerance
    let header: JSON = ["alg": "RS256", "typ": "JWT", "kid": .string(key.keyID)]
    let claims: JSON = [
      "iss": .string(key.email), "scope": .string(Self.scope), "aud": .string(RemoteHost.token),
      "iat": .number(JSON.Number(issuedAt)), "exp": .number(JSON.Number(issuedAt + Self.lifetime)),
    ]
    let message = [header, claims].map { Base64URL.encode($0.serialized()) }.joined(separator: ".")
    guard let signature = try? key.key.sign(Array(message.utf8)) else {
      throw RemoteFault(.other("RS256"))
    }
    return message + "." + Base64URL.encode(signature)
  }
}
