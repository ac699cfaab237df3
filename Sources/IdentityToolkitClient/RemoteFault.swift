import JSON
import Text

/// The reason that the remote can't be used, or not for a call.
public struct RemoteFault: Error, Sendable {
  /// What's wrong, of which ``RemoteFault/message(at:)`` says what to do.
  public enum Cause: Codable, Equatable, Sendable {
    /// This server's clock is ahead of Google's by these seconds, or behind if they're negative.
    case clock(seconds: Int)
    /// Google doesn't know the key with this ID.
    case keyDeleted(String)
    /// The service account with this address was deleted or disabled.
    case accountGone(String)
    /// This isn't the address of a service account of an existing project.
    case notServiceAccount(String)
    case invalidEmail
    /// The API is off in the project with this ID or number.
    case apiOff(project: String)
    case neverSetUp, noIdentityPlatform, projectGone
    case tenantsOff, tenantDisabled, tenantGone
    /// The credential lacks these permissions, or at another Countersign this role.
    case permissionMissing(String)
    /// The service account may not use the quota of the project.
    case quotaProject
    /// The remote wants no calls for this time.
    case quota(seconds: Int)
    /// The access level of the connection doesn't include the call, which wasn't sent.
    case beyondAccess(AccessLevel)
    case unauthorized, unreachable, addressRefused, untrusted
    /// Even the smallest response is larger than 16 MiB.
    case tooLarge
    /// The response isn't one of the API.
    case unreadable
    /// The remote doesn't keep a factor while another one is removed.
    case factorRefused
    /// The user has a factor of a kind that can't be sent back.
    case unknownFactor
    /// Another error with this code, such as `USER_NOT_FOUND` or `HTTP 418`.
    case other(String)

    /// A quota, if it isn't known how long the remote wants no calls.
    fileprivate static let limited = quota(seconds: 5)
  }

  /// What's wrong.
  public internal(set) var cause: Cause
  /// The remote's own words, or the transport's, for the log and for details; nil if there are none.
  public let detail: String?

  /// Whether the call wasn't sent, or may have been carried out; nil if the cause decides.
  private var isKnownRefusal: Bool?

  /// The same fault, of a call that wasn't sent.
  package var beforeSending: RemoteFault {
    var fault = self
    fault.isKnownRefusal = true
    return fault
  }

  /// Whether the call certainly wasn't carried out: it wasn't sent, or the remote rejected it.
  package var isRefusal: Bool {
    isKnownRefusal ?? ![.unreachable, .tooLarge, .unreadable].contains(cause)
  }

  /// Creates a fault; `detail` must not have a credential.
  public init(_ cause: Cause, _ detail: String? = nil) {
    (self.cause, self.detail) = (cause, detail)
  }

  /// A response whose body isn't an error of the API.
  private init(unknown response: RemoteResponse) {
    let cause: Cause =
      switch response.status {
      case 429: .limited
      case 408, 500...: .unreachable
      default: .unreadable
      }
    let text = Self.excerpt(String(decoding: response.body.prefix(2_000), as: UTF8.self))
    self.init(cause, "HTTP \(response.status) \(text)")
  }

  /// Returns the beginning of a text from outside, without the assertions and tokens in it, which a
  /// server may repeat.
  private static func excerpt(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(500)))
      .replacing(/(?:eyJ|ya29\.|cst_)[!-~]*/, with: "…")
  }
}

// MARK: - Errors of the API

extension RemoteFault {
  /// Reads an error response to a call, in the shape of version 1 of the API, which has `errors`, or of
  /// version 2, which has `status` and `details`.
  init(_ response: RemoteResponse, to call: RemoteCall, of project: RemoteProject) {
    guard let error = (try? JSON.parse(response.body, repairing: true))?["error"],
      error.objectValue != nil
    else {
      self.init(unknown: response)
      return
    }
    let text = Self.excerpt(error["message"]?.textValue?.text ?? "")
    let cause = Self.cause(error, text, response.status, call, project)
    self.init(cause, text.isEmpty ? nil : text)
    // A server that fails may have a word for it, such as that of a quota.
    if response.status >= 500 { isKnownRefusal = false }
  }

  private static func cause(
    _ error: JSON, _ text: String, _ status: Int, _ call: RemoteCall, _ project: RemoteProject
  ) -> Cause {
    let parts = ["errors", "details"].flatMap { error[$0]?.arrayValue ?? [] }
    let reasons = parts.compactMap { $0["reason"]?.textValue }
    if status == 401 { return .unauthorized }
    if reasons.contains("SERVICE_DISABLED") || reasons.contains("accessNotConfigured") {
      let consumers = parts.compactMap { $0["metadata"]?["consumer"]?.textValue?.text(atMost: 64) }
      // It becomes a part of an address.
      let other = consumers.first?.wholeMatch(of: /projects\/([a-z0-9-]+)/)
      return .apiOff(project: other.map { String($0.1) } ?? project.id)
    }
    if status == 403, text.contains("has been deleted") { return .projectGone }
    if reasons.contains("USER_PROJECT_DENIED") { return .quotaProject }
    // Some quotas are answered with 400 or 403.
    if status == 429 || text.contains("Quota exceeded") { return .limited }
    if reasons.contains("RATE_LIMIT_EXCEEDED") || error["status"] == "RESOURCE_EXHAUSTED" {
      return .limited
    }
    if parts.contains(where: { $0["domain"] == "usageLimits" }) { return .limited }
    let code = text.prefixMatch(of: /([A-Z][A-Z0-9_]+)(?: |$)/).map { String($0.1) } ?? ""
    switch code {
    case "CONFIGURATION_NOT_FOUND": return .neverSetUp
    case "PROJECT_NOT_FOUND": return .projectGone
    case "INVALID_PROJECT_ID": return call.path.contains("/tenants") ? .tenantsOff : .projectGone
    case "TENANT_DISABLED": return .tenantDisabled
    case "TENANT_DELETED", "TENANT_NOT_FOUND", "INVALID_TENANT_ID": return .tenantGone
    case "QUOTA_EXCEEDED", "TOO_MANY_ATTEMPTS_TRY_LATER": return .limited
    case "UNSUPPORTED_SECOND_FACTOR": return .factorRefused
    case "INSUFFICIENT_PERMISSION": return .permissionMissing(call.permission(at: project))
    default: break
    }
    if status == 403 { return .permissionMissing(call.permission(at: project)) }
    if status >= 500 { return .unreachable }
    return .other(code.isEmpty ? "HTTP \(status)" : code)
  }
}

// MARK: - Errors of the token endpoint

extension RemoteFault {
  private static let goneWords = [
    "account not found", "is disabled", "was deleted", "has been deleted",
  ]

  /// Reads an error response of Google's token endpoint to an assertion of the key, by fragments of
  /// its sentences, which have changed; the time is in seconds since 1970.
  init(token response: RemoteResponse, of key: ServiceAccountKey, at now: Int64) {
    let body = try? JSON.parse(response.body, repairing: true)
    let code = Self.excerpt(body?["error"]?.textValue?.text ?? "")
    guard !code.isEmpty, response.status < 500, response.status != 429 else {
      self.init(unknown: response)
      return
    }
    let text = Self.excerpt(body?["error_description"]?.textValue?.text ?? "")
    let words = text.lowercased()
    let cause: Cause =
      if words.contains("timeframe"), let date = response.date.flatMap(RemoteResponse.seconds) {
        .clock(seconds: Int(now - date))
      } else if words.contains("jwt signature") {
        .keyDeleted(key.keyID)
      } else if Self.goneWords.contains(where: { words.contains($0) }) {
        .accountGone(key.email)
      } else if words.contains("no valid verifier") {
        .notServiceAccount(key.email)
      } else if words.contains("valid email") {
        .invalidEmail
      } else {
        .other(String(code.prefix(64)))
      }
    self.init(cause, "\(code): \(text)")
  }
}
