from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from indexer.transport.upstreams import is_loopback, is_public, is_public_host, mirrored, redirected, upstream_of
from lineage.errors import SourceError
from lineage.records import Status

ASKED = [
    "https://api.semanticscholar.org/graph/v1/paper/DOI:10.1093/mind/lix.236.433?fields=title",
    "https://api.semanticscholar.org/graph/v1/paper/URL:https://openreview.net/forum%3Fid=x/references",
    "https://export.arxiv.org/api/query?id_list=2504.17192",
    "https://export.arxiv.org/e-print/2504.17192v2",
    "https://export.arxiv.org/e-print/hep-th/9901001",
    "https://export.arxiv.org/pdf/math.GT/0309136v1",
    "https://arxiv.org/html/2504.17192v1",
    "https://api.github.com/repos/allenai/scibert",
    "https://api.github.com/repos/allenai/scibert/commits/feature/x",
    "https://api.github.com/repositories/1296269",
    "https://codeload.github.com/allenai/scibert/tar.gz/HEAD",
    "https://codeload.github.com/o/r/legacy.tar.gz/refs/heads/main",
    "https://huggingface.co/api/papers/2504.17192",
    "https://api.openalex.org/works/doi:10.7717/peerj.4375",
    "https://api.crossref.org/works/10.7717/peerj.4375",
]

REFUSED = [
    "http://api.github.com/repos/a/b",
    "file:///etc/passwd",
    "gopher://api.github.com/repos/a/b",
    "ftp://export.arxiv.org/api/query",
    "https://github.com@127.0.0.1/repos/a/b",
    "https://api.github.com@127.0.0.1/repos/a/b",
    "https://user:pass@api.github.com/repos/a/b",
    "https://api.github.com:8443/repos/a/b",
    "https://api.github.com:443/repos/a/b",
    "https://API.GITHUB.COM/repos/a/b",
    "https://api.github.com./repos/a/b",
    "https://api.github.com.evil.org/repos/a/b",
    "https://evil.org/api.github.com/repos/a/b",
    "https://api.github.com#@evil.org/repos/a/b",
    "https://evil.org#api.github.com/repos/a/b",
    "https://api.github.com\\@evil.org/repos/a/b",
    "https:\\\\api.github.com/repos/a/b",
    "https:/api.github.com/repos/a/b",
    "https:///api.github.com/repos/a/b",
    "//api.github.com/repos/a/b",
    "api.github.com/repos/a/b",
    "https://api.github.com/repos/a/b\r\nX-Evil: 1",
    "https://api.github.com/repos/a/b HTTP/1.1",
    "https://api.github.com/repos/a/b\x00",
    "https://ａｐｉ.github.com/repos/a/b",
    "https://xn--api-github-com/repos/a/b",
    "https://127.0.0.1/repos/a/b",
    "https://127.1/repos/a/b",
    "https://2130706433/repos/a/b",
    "https://0x7f000001/repos/a/b",
    "https://0177.0.0.1/repos/a/b",
    "https://０.0.0.0/",
    "https://①②⑦.0.0.1/",
    "https://[::1]/repos/a/b",
    "https://[::127.0.0.1]/repos/a/b",
    "https://[::ffff:127.0.0.1]/repos/a/b",
    "https://[64:ff9b::7f00:1]/repos/a/b",
    "https://169.254.169.254/latest/meta-data/",
    "https://localhost/repos/a/b",
    "https://api.github.com/repos/a/../../user",
    "https://api.github.com/repos/a/..",
    "https://api.github.com/repos/a/b/commits/%2e%2e/%2e%2e/x",
    "https://codeload.github.com/a/b/tar.gz/../../../x",
    "https://codeload.github.com/a/b/zip/HEAD",
    "https://api.github.com/user",
    "https://api.github.com/repos/a/b/contents/",
    "https://export.arxiv.org/e-print/../../etc/passwd",
    "https://export.arxiv.org/list/cs.LG/recent",
    "https://huggingface.co/api/models/x",
    "https://api.semanticscholar.org/graph/v1/author/1",
    "https://api.semanticscholar.org/graph/v1/paper/%252e%252e/x",
    "https://[",
    "",
    "https://api.github.com/repos/a/" + "b" * 20_000,
]


@pytest.mark.parametrize("url", ASKED)
def test_what_the_contracts_list_may_be_asked(url):
    assert upstream_of(url)[0] in url


@pytest.mark.parametrize("url", REFUSED)
def test_every_other_spelling_is_refused(url):
    with pytest.raises(SourceError) as error:
        upstream_of(url)
    assert error.value.status is Status.POLICY_SKIPPED


def test_all_of_arxiv_shares_one_bucket_of_one_request_in_three_seconds():
    found = {upstream_of(url)[1] for url in ASKED if "arxiv.org" in url}
    assert [(upstream.bucket, upstream.interval, upstream.alone) for upstream in found] == [("arxiv", 3.0, True)]


def test_a_mirror_is_asked_under_the_host_name():
    url = "https://api.github.com/repos/a/b?x=1"
    assert mirrored(url, "http://127.0.0.1:9000") == "http://127.0.0.1:9000/api.github.com/repos/a/b?x=1"
    assert mirrored(url, "") == url


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("https://api.github.com/repositories/7", "https://api.github.com/repositories/7"),
        ("/repositories/7", "https://api.github.com/repositories/7"),
        ("/api.github.com/repositories/7", "https://api.github.com/repositories/7"),
        ("http://mirror/codeload.github.com/a/b/tar.gz/x", "https://codeload.github.com/a/b/tar.gz/x"),
        ("http://127.0.0.1/x", "http://127.0.0.1/x"),
        ("//evil.org/x", "https://evil.org/x"),
        ("file:///etc/passwd", "file:///etc/passwd"),
    ],
)
def test_a_redirect_is_read_as_a_public_address(location, meant):
    assert redirected("https://api.github.com/repos/a/b", location, "http://mirror") == meant


PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", ""),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_in_any_dress_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["151.101.1.42", "140.82.121.6", "2606:50c0:8000::154", "::ffff:140.82.121.6", "64:ff9b::8c52:7906"])
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000", "https://127.0.0.2"])
def test_a_mirror_on_this_machine_needs_no_sparing(mirror):
    assert is_loopback(urlsplit(mirror).hostname or "")


@pytest.mark.parametrize("mirror", ["", "http://mirror.lab.example:9000", "http://127.0.0.1.evil.org", "http://10.0.0.5:9000"])
def test_a_mirror_elsewhere_does(mirror):
    assert not is_loopback(urlsplit(mirror).hostname or "")


@pytest.mark.parametrize("host", ["api.openai.com", "api.mistral.ai", "8.8.8.8"])
def test_an_endpoint_on_the_internet_is_public(host):
    assert is_public_host(host)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "10.1.2.3", "gpu-server", "vllm.internal", "box.local", "[::1]", "0x7f000001"])
def test_an_endpoint_on_the_own_network_is_not(host):
    assert not is_public_host(host)
