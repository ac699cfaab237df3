import HTTP

/// The fields that every answer of the console carries.
struct SecurityHeaders: Sendable {
  private let isSecure: Bool

  init(publicURL: PublicURL) {
    isSecure = publicURL.isSecure
  }

  /// Nothing inline, nothing from elsewhere, no frames, no forms to elsewhere.
  static let contentSecurityPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'"

  func apply(to response: inout Response) {
    var fields = response.fields
    fields.add(.contentSecurityPolicy, Self.contentSecurityPolicy)
    fields.add(.xContentTypeOptions, "nosniff")
    // Not no-referrer: browsers would then send `Origin: null` with our own forms.
    fields.add(.referrerPolicy, "same-origin")
    fields.add("Cross-Origin-Opener-Policy", "same-origin")
    fields.add("Cross-Origin-Resource-Policy", "same-origin")
    // Pages show people's data or carry form tokens, so no cache may keep them.
    fields.add(.cacheControl, "no-store")
    if isSecure {
      fields.add(.strictTransportSecurity, "max-age=31536000; includeSubDomains")
    }
    response.fields = fields
  }
}
