import Crypto
import Foundation
import JSON
import Localization
import Synchronization
import Testing
import Text

@testable import IdentityToolkitClient

/// A request to Google's API and its response, as they were recorded.
struct Recording: Sendable, CustomTestStringConvertible {
  let id: String
  let method: String
  let path: String
  let status: Int
  let response: JSON
  var testDescription: String { id }

  static let files = ["accounts", "config", "errors", "providers", "tenants", "token"]

  /// All recordings.
  static let all = Result {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/connect")
    return try files.flatMap { name in
      let text = try String(contentsOf: folder.appending(path: "\(name).jsonl"), encoding: .utf8)
      return try text.split(separator: "\n").map { line in
        let entry = try JSON.parse(Array(line.utf8))
        return Recording(
          id: try #require(entry.filled("id")), method: try #require(entry.filled("method")),
          path: try #require(entry.filled("path")),
          status: Int(try #require(entry["status"]?.numberValue?.int64)),
          response: try #require(entry["response"]))
      }
    }
  }

  static func with(_ id: String) throws -> Recording {
    try #require(try all.get().first { $0.id == id }, "\(id)")
  }

  var answer: RemoteResponse { RemoteResponse(status: status, body: response.serialized()) }
}

/// A remote that answers as a test says, and keeps what it was asked.
final class ScriptedRemote: RemoteTransport {
  typealias Answer = @Sendable (RemoteRequest) throws(RemoteFault) -> RemoteResponse

  private let answer: Answer
  private let kept = Mutex<[RemoteRequest]>([])

  init(_ answer: @escaping Answer) { self.answer = answer }

  /// Answers each request for a token, and every other one as the test says.
  convenience init(googleWith answer: @escaping Answer) {
    self.init { (request) throws(RemoteFault) in
      if request.url == RemoteHost.token { return .token("ya29.first") }
      return try answer(request)
    }
  }

  var requests: [RemoteRequest] { kept.withLock { $0 } }
  /// The requests other than those for tokens.
  var calls: [RemoteRequest] { requests.filter { $0.url != RemoteHost.token } }

  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
    kept.withLock { $0.append(request) }
    return try answer(request)
  }
}

extension RemoteRequest {
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The value of a parameter in the query or in a form, as sent.
  func parameter(_ name: String) -> String? {
    let text = url.split(separator: "?").dropFirst().first.map(String.init)
    let pairs = (text ?? String(decoding: body ?? [], as: UTF8.self)).split(separator: "&")
    return pairs.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
  }
}

extension RemoteResponse {
  static func json(_ json: JSON, status: Int = 200, retryAfter: String? = nil) -> RemoteResponse {
    RemoteResponse(status: status, retryAfter: retryAfter, body: json.serialized())
  }

  static func token(_ text: String, seconds: Int = 3_599) -> RemoteResponse {
    .json([
      "access_token": .string(text), "expires_in": .number(JSON.Number(seconds)),
      "token_type": "Bearer",
    ])
  }

  /// An error of version 1.
  static func error(_ status: Int, _ message: String) -> RemoteResponse {
    .json(
      [
        "error": [
          "code": .number(JSON.Number(status)), "message": .string(message),
          "errors": [["message": .string(message), "domain": "global", "reason": "invalid"]],
        ]
      ], status: status)
  }
}

/// Counts from one.
final class Counter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

/// A clock that only waits move.
final class TestClock: Sendable {
  private struct State {
    var steady = Duration.seconds(1_000)
    var waits: [Duration] = []
  }

  private let state = Mutex(State())
  static let now: Int64 = 1_795_161_600

  var waits: [Duration] { state.withLock { $0.waits } }
  var steady: Duration { state.withLock { $0.steady } }

  func advance(_ time: Duration) { state.withLock { $0.steady += time } }

  var remote: RemoteClock {
    RemoteClock(
      now: { Self.now }, steady: { self.steady },
      sleep: { time in
        self.state.withLock { state in
          state.steady += time
          state.waits.append(time)
        }
      })
  }
}

/// A key of a service account, as Google writes it.
enum TestKey {
  static let email = "countersign@demo-connected.iam.gserviceaccount.com"
  private static let key = Result { try RSAKey.generate() }

  static func rsa() throws -> RSAKey { try key.get() }

  static func pem() throws -> String {
    let text = Base64URL.encodeStandard(try rsa().privateDER().revealedBytes)
    let lines = stride(from: 0, to: text.utf8.count, by: 64).map { start in
      text.dropFirst(start).prefix(64)
    }
    return "-----BEGIN PRIVATE KEY-----\n\(lines.joined(separator: "\n"))\n"
      + "-----END PRIVATE KEY-----\n"
  }

  /// Returns the file, with members changed or, if nil, left out.
  static func file(_ changes: [String: JSON?] = [:]) throws -> JSON {
    var file: JSON.Object = [
      "type": "service_account", "project_id": "demo-connected",
      "private_key_id": "3f2a0000000000000000000000000000000000aa",
      "private_key": .string(try pem()), "client_email": .string(email), "client_id": "1",
      "auth_uri": "https://evil.example/auth", "token_uri": "https://evil.example/token",
      "auth_provider_x509_cert_url": "https://evil.example/certs",
      "client_x509_cert_url": "https://evil.example/x509", "universe_domain": "googleapis.com",
    ]
    for (name, value) in changes { file[name] = value }
    return .object(file)
  }

  static func credential(_ changes: [String: JSON?] = [:]) throws -> RemoteCredential {
    try RemoteCredential(try file(changes).serialized(), for: .identityPlatform)
  }
}

/// Creates a client of a project at Google.
func google(
  _ remote: ScriptedRemote, _ clock: TestClock = TestClock(), access: AccessLevel = .read,
  credential: RemoteCredential? = nil, namesQuotaProject: Bool = false
) throws -> ToolkitClient {
  ToolkitClient(
    try #require(RemoteProject(kind: .identityPlatform, id: "demo-connected")),
    credential: try credential ?? TestKey.credential(), access: access, transport: remote,
    clock: clock.remote, namesQuotaProject: namesQuotaProject)
}

/// Creates a client of a project in another Countersign.
func countersign(
  _ remote: ScriptedRemote, _ clock: TestClock = TestClock(), access: AccessLevel = .read
) throws -> ToolkitClient {
  ToolkitClient(
    try #require(
      RemoteProject(kind: .countersign, id: "demo-connected", url: "https://mfa.example.com/")),
    credential: try RemoteCredential(Array("cst_0123456789\n".utf8), for: .countersign),
    access: access, transport: remote, clock: clock.remote)
}

/// Returns the fault that a call throws.
func thrown(_ call: () async throws -> Void) async -> RemoteFault? {
  do { try await call() } catch { return error as? RemoteFault }
  return nil
}

extension Message {
  /// The text in English.
  var english: String { Catalog.english.text(self) }
}
