/// A parser of outside bytes, and what must hold for every input.
///
/// Whatever the bytes, a parser may neither crash nor hang nor touch memory that isn't its own; what
/// it accepts must survive being written and read again.
public enum FuzzedParser: String, CaseIterable, Sendable {
  case json
  case jsonElements = "json-elements"
  case policyFile = "policy-file"
  case keySet = "key-set"
  case token
  case openIDConnect = "openid-connect"
  case form
  case target
  case cookies
  case violationReport = "violation-report"
  case entityTag = "entity-tag"
  case languages
  case forwardedFor = "forwarded-for"
  case addresses
  case hostName = "host-name"
  case clientURL = "client-url"
  case continueURL = "continue-url"
  case mailAddress = "mail-address"
  case accountRules = "account-rules"
  case search
  case csv
  case pastedList = "pasted-list"
  case codings
  case publicKey = "public-key"
  case certificate
  case importedHash = "imported-hash"
  case auditHead = "audit-head"
  case configuration
  case catalog
  case template
  case markdown
  case cbor
  case passkeyRegistration = "passkey-registration"
  case passkeyAssertion = "passkey-assertion"
  case importedUser = "imported-user"
  case updateMask = "update-mask"
  case serverURL = "server-url"
  case responseHeader = "response-header"
  case mailReply = "mail-reply"
  case remote

  /// Parses the bytes, and returns what doesn't hold; nil if everything does.
  public func flaw(in bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    return switch self {
    case .json: Self.json(bytes)
    case .jsonElements: Self.jsonElements(bytes)
    case .policyFile: Self.policyFile(bytes)
    case .keySet: Self.keySet(text)
    case .token: Self.token(text)
    case .openIDConnect: Self.openIDConnect(bytes, text)
    case .form: Self.form(bytes)
    case .target: Self.target(text)
    case .cookies: Self.cookies(text)
    case .violationReport: Self.violationReport(bytes)
    case .entityTag: Self.entityTag(text)
    case .languages: Self.languages(text)
    case .forwardedFor: Self.forwardedFor(text)
    case .addresses: Self.addresses(text)
    case .hostName: Self.hostName(text)
    case .clientURL: Self.clientURL(text)
    case .continueURL: Self.continueURL(text)
    case .mailAddress: Self.mailAddress(text)
    case .accountRules: Self.accountRules(text)
    case .search: Self.search(text)
    case .csv: Self.csv(bytes)
    case .pastedList: Self.pastedList(text)
    case .codings: Self.codings(bytes, text)
    case .publicKey: Self.publicKey(bytes, text)
    case .certificate: Self.certificate(bytes)
    case .importedHash: Self.importedHash(text)
    case .auditHead: Self.auditHead(bytes)
    case .configuration: Self.configuration(bytes)
    case .catalog: Self.catalog(text)
    case .template: Self.template(text)
    case .markdown: Self.markdown(text)
    case .cbor: Self.cbor(bytes)
    case .passkeyRegistration: Self.passkeyRegistration(bytes)
    case .passkeyAssertion: Self.passkeyAssertion(bytes)
    case .importedUser: Self.importedUser(bytes)
    case .updateMask: Self.updateMask(bytes)
    case .serverURL: Self.serverURL(text)
    case .responseHeader: Self.responseHeader(bytes)
    case .mailReply: Self.mailReply(bytes)
    case .remote: Self.remote(bytes)
    }
  }
}
