import Crypto
import JSON
import OpenIDConnect
import Synchronization
import Text

/// A call of the Identity Toolkit API, or of another API of Google's.
struct RemoteCall: Sendable {
  /// The address of another API; nil for that of the project.
  var host: String?
  let path: String
  var query: [(name: String, value: String)] = []
  /// What Google is asked for of the response; nil for everything.
  var fields: String?
  /// The body of a POST or PATCH request; nil for GET.
  var body: JSON?
  var isPatch = false
  var needs = AccessLevel.read
  /// Google's permission for the call.
  let permission: String

  /// Returns what a credential lacks if the call isn't permitted.
  func permission(at project: RemoteProject) -> String {
    project.kind == .countersign ? needs.tokenRole : permission
  }
}

/// Calls the Identity Toolkit API of one project, with the credential and access level of its
/// connection.
///
/// It has an access token, paces, and what it learned about the project in memory, so a process needs
/// one for each connection.
public final class ToolkitClient: Sendable {
  /// Whether calls name the project as the one whose quota they use, and say what they want of the
  /// response.
  private typealias Habits = (namesQuotaProject: Bool, selectsFields: Bool)

  package let project: RemoteProject
  package let access: AccessLevel
  /// Those of a service account, for Google.
  let tokens: AccessTokens?
  /// The one of another Countersign.
  private let serviceToken: Secret?
  private let transport: any RemoteTransport
  private let pace: RemotePace
  let clock: RemoteClock
  private let habits: Mutex<Habits>

  /// How often a walk sends a call while the remote wants fewer.
  private static let tries = 3

  /// Creates a client; the credential must be for the project's kind of server, and
  /// `namesQuotaProject` is what ``namesQuotaProject`` was when the connection was stored.
  public init(
    _ project: RemoteProject, credential: RemoteCredential, access: AccessLevel,
    transport: any RemoteTransport, clock: RemoteClock, namesQuotaProject: Bool = false
  ) {
    let pace = RemotePace(clock)
    (self.project, self.access, self.transport, self.pace) = (project, access, transport, pace)
    self.clock = clock
    switch (project.kind, credential) {
    case (.identityPlatform, .serviceAccount(let key)):
      (tokens, serviceToken) = (AccessTokens(key, transport, clock, pace), nil)
    case (.countersign, .serviceToken(let token)): (tokens, serviceToken) = (nil, token)
    // Another server would get a token for Google.
    default: preconditionFailure("a credential of another kind")
    }
    let learned: Habits = (namesQuotaProject, project.kind == .identityPlatform)
    habits = Mutex(learned)
  }

  /// Whether calls name the project as the one whose quota they use, which a service account of another
  /// project may have to.
  public var namesQuotaProject: Bool { habits.withLock { $0.namesQuotaProject } }

  /// Sends a call, and repeats it if that's of use: with a new token, for the project's quota, without
  /// a selection of fields, or for a walk after a while; returns the response, an object, and when it was
  /// sent by the remote's clock, in seconds since 1970.
  func send(
    _ call: RemoteCall, for purpose: RemotePurpose
  ) async throws(RemoteFault) -> (body: JSON, date: Int64?) {
    guard call.needs <= access else { throw RemoteFault(.beyondAccess(call.needs)) }
    var habits = self.habits.withLock { $0 }
    var refused: AccessToken?
    var tries = 1
    while true {
      try await pace.wait(for: purpose)
      let token: AccessToken?
      do throws(RemoteFault) { token = try await tokens?.token(otherThan: refused) } catch {
        throw error.beforeSending
      }
      let response = try await transport.send(request(call, token, habits))
      if response.status == 200 {
        pace.succeed()
        if call.host == nil { self.habits.withLock { $0 = habits } }
        guard let answer = try? JSON.parse(response.body, repairing: true),
          answer.objectValue != nil
        else { throw RemoteFault(.unreadable) }
        return (answer, response.date.flatMap(RemoteResponse.seconds))
      }
      var fault = RemoteFault(response, to: call, of: project)
      switch fault.cause {
      case .unauthorized where refused == nil && token != nil: refused = token
      case .apiOff(let other)
      where call.host == nil && !habits.namesQuotaProject && mayBeForeign(other):
        habits.namesQuotaProject = true
      case .other where call.fields != nil && habits.selectsFields && fault.isAboutFields:
        habits.selectsFields = false
      case .quota,
        .unreachable where response.status == 503:
        let seconds = pace.hold(response.retryAfter)
        if case .quota = fault.cause { fault.cause = .quota(seconds: seconds) }
        guard purpose == .walk, tries < Self.tries else { throw fault }
        tries += 1
      default: throw fault
      }
    }
  }

  private func request(
    _ call: RemoteCall, _ token: AccessToken?, _ habits: Habits
  ) -> RemoteRequest {
    var query = call.query
    if let fields = call.fields, habits.selectsFields { query.append(("fields", fields)) }
    let address = (call.host ?? project.address) + call.path
    var fields = [(name: "Accept", value: "application/json")]
    if let secret = token?.secret ?? serviceToken {
      fields.append(("Authorization", "Bearer \(secret.revealedText)"))
    }
    if call.body != nil { fields.append(("Content-Type", "application/json")) }
    if call.host == nil, habits.namesQuotaProject {
      fields.append(("X-Goog-User-Project", project.id))
    }
    return RemoteRequest(
      url: query.isEmpty ? address : "\(address)?\(FormText.encode(query))", fields: fields,
      method: call.isPatch ? "PATCH" : call.body == nil ? "GET" : "POST",
      body: call.body?.serialized())
  }

  /// Returns whether a project that an error names isn't the connected one: it may be named by its
  /// number, but a service account of the connected project uses no other.
  private func mayBeForeign(_ other: String) -> Bool {
    ![other, tokens?.key.project].contains { $0?.isSameBytes(as: project.id) ?? false }
  }
}

extension RemoteFault {
  /// Whether the remote doesn't know how to select fields, or one of them.
  fileprivate var isAboutFields: Bool { detail?.contains("field") ?? false }
}
