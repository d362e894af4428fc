# One service over an embedded store: docker build -t lineage . && docker compose up
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY lineage lineage
COPY indexer indexer
COPY retrieval retrieval
COPY api api
COPY examples/demo examples/demo
COPY tests/__init__.py tests/__init__.py
COPY tests/upstream tests/upstream
ARG EXTRAS=""
RUN python -m venv /opt/lineage && /opt/lineage/bin/pip install --no-cache-dir --disable-pip-version-check ".${EXTRAS}"

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 lineage && install -d -o lineage -g lineage /data
COPY --from=build /opt/lineage /opt/lineage
ENV PATH=/opt/lineage/bin:$PATH LINEAGE_HOME=/data PYTHONDONTWRITEBYTECODE=1
USER 10001
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["lineage"]
CMD ["serve", "--host", "0.0.0.0"]
